"""What an author starts from: files and packages of theorems that are true as they are written."""
