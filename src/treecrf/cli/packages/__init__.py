"""Commands about models as packages: `models` and `package`."""
