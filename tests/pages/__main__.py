"""Write the generated pages."""

from tests.pages import pages

if __name__ == "__main__":
    pages.write()
