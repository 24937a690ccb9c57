"""What people see: trees, tables, pages."""
