"""The local web app for judges and the admin. Lowest layer first: access, guard, serving, site, pages, server."""
