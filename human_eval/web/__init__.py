"""The local web app: judges answer, whoever runs the study watches. Read access, guard, forms, pages downwards."""
