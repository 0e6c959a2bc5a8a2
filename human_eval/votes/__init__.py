"""The judges' answers as votes: from the files of a study or from public data, and which of them count."""
