"""The constraints beyond plain matroids: against enumeration, and how long they take; see ``__main__``."""
