"""SQLAlchemy's ORM: tables from classes, rows from objects, relationships. The URL is the only argument."""

import sys

from sqlalchemy import Column, ForeignKey, Integer, String, create_engine, func, select
from sqlalchemy.orm import Session, declarative_base, relationship

Base = declarative_base()


class Author(Base):
    __tablename__ = "authors"
    id = Column(Integer, primary_key=True)
    name = Column(String(50), nullable=False)
    books = relationship("Book", back_populates="author", order_by="Book.id")


class Book(Base):
    __tablename__ = "books"
    id = Column(Integer, primary_key=True)
    title = Column(String(100))
    pages = Column(Integer)
    author_id = Column(Integer, ForeignKey("authors.id"))
    author = relationship("Author", back_populates="books")


engine = create_engine(sys.argv[1])
Base.metadata.create_all(engine)
# Again: it looks which tables there are, and makes none.
Base.metadata.create_all(engine)
with Session(engine) as session:
    first = Author(name="Ann", books=[Book(title="One", pages=100), Book(title="Two", pages=200)])
    session.add_all([first, Author(name="Bob")])
    session.commit()
    assert first.id is not None
with Session(engine) as session:
    joined = session.execute(
        select(Author.name, Book.title).join(Book.author).where(Book.pages > 150).order_by(Book.title)
    ).all()
    assert joined == [("Ann", "Two")], joined
    counted = session.execute(
        select(Author.name, func.count(Book.id)).outerjoin(Author.books).group_by(Author.name).order_by(Author.name)
    ).all()
    assert counted == [("Ann", 2), ("Bob", 0)], counted
    ann = session.query(Author).filter_by(name="Ann").one()
    assert [book.title for book in ann.books] == ["One", "Two"]
    ann.books[0].pages = 111
    session.delete(ann.books[1])
    session.commit()
with Session(engine) as session:
    books = session.query(Book).all()
    assert [(book.title, book.pages, book.author.name) for book in books] == [("One", 111, "Ann")]
    session.query(Book).delete()
    session.rollback()
    assert session.query(Book).count() == 1
engine.dispose()
print("fine")
