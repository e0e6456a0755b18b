"""What is known of the answer: constants, localizability, guarantees, certificates, exact solutions."""
