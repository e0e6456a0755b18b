"""The application: the command line, and pages about answers."""
