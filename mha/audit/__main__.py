"""``python -m mha.audit``: print the audit of the source documents."""

from mha.audit.judging import main

if __name__ == "__main__":
    main()
