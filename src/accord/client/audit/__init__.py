"""A record of everything that was asked, decided and done."""
