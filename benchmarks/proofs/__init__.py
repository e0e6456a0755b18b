"""How far proofs reach: against other programs, and on small instances against enumeration."""
