"""What a first look at a user's files tells: columns, how texts are written, how rows are divided."""
