"""What both bridges to the 2026-02 draft are made of: one file per thing that has two forms."""
