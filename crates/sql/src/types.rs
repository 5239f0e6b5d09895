//! Which type do the words of a column definition or of a cast mean?

use sqlparser::ast::{CharacterLength, DataType, ExactNumberInfo, TimezoneInfo};

use crate::datum::Type;
use crate::engine::Dialect;
use crate::error::{Error, Result};

/// The type of a column, with its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColumnType {
    pub(crate) ty: Type,
    /// Of text, in characters.
    pub(crate) length: Option<u32>,
    /// Digits in all, and behind the point.
    pub(crate) precision: Option<(u32, u32)>,
}

impl ColumnType {
    pub(crate) fn plain(ty: Type) -> Self {
        ColumnType { ty, length: None, precision: None }
    }
}

/// What the words mean, and whether they also say that the column numbers itself (`serial`).
pub(crate) fn column_type(words: &DataType, dialect: Dialect) -> Result<(ColumnType, bool)> {
    use DataType as D;
    let plain = |ty| Ok((ColumnType::plain(ty), false));
    let text = |length: &Option<CharacterLength>, default| {
        let length = match length {
            Some(CharacterLength::IntegerLength { length, .. }) => u32::try_from(*length).ok(),
            Some(CharacterLength::Max) => None,
            None => default,
        };
        Ok((ColumnType { ty: Type::Text, length, precision: None }, false))
    };
    match words {
        D::Bool | D::Boolean | D::Bit(_) => plain(Type::Boolean),
        D::TinyInt(Some(1)) if dialect == Dialect::MySql => plain(Type::Boolean),
        D::TinyInt(_) | D::TinyIntUnsigned(_) | D::Int2(_) | D::SmallInt(_) => plain(Type::SmallInt),
        D::Int2Unsigned(_) | D::SmallIntUnsigned(_) | D::MediumInt(_) | D::MediumIntUnsigned(_) => plain(Type::Integer),
        D::Int(_) | D::Int4(_) | D::Integer(_) | D::Int32 => plain(Type::Integer),
        D::BigInt(_) | D::Int8(_) | D::Int64 | D::IntUnsigned(_) | D::Int4Unsigned(_) | D::IntegerUnsigned(_) => {
            plain(Type::BigInt)
        }
        D::BigIntUnsigned(_) | D::Int8Unsigned(_) => plain(Type::BigInt),
        D::Signed | D::SignedInteger | D::Unsigned | D::UnsignedInteger => plain(Type::BigInt),
        D::Real | D::Float4 | D::Float8 | D::Float(_) | D::Double(_) | D::DoublePrecision | D::Float64 => {
            plain(Type::Double)
        }
        D::FloatUnsigned(_) | D::DoubleUnsigned(_) | D::RealUnsigned | D::DoublePrecisionUnsigned => {
            plain(Type::Double)
        }
        D::Numeric(info) | D::Decimal(info) | D::Dec(info) | D::DecimalUnsigned(info) | D::DecUnsigned(info) => {
            Ok((ColumnType { ty: Type::Numeric, length: None, precision: precision(info, dialect)? }, false))
        }
        D::Char(length) | D::Character(length) => text(length, Some(1)),
        D::Varchar(length) | D::CharVarying(length) | D::CharacterVarying(length) | D::Nvarchar(length) => {
            text(length, None)
        }
        D::Text | D::TinyText | D::MediumText | D::LongText | D::String(_) | D::Clob(_) | D::Regclass => {
            plain(Type::Text)
        }
        D::Uuid | D::JSON | D::JSONB | D::Enum(..) => plain(Type::Text),
        D::Bytea
        | D::Blob(_)
        | D::TinyBlob
        | D::MediumBlob
        | D::LongBlob
        | D::Binary(_)
        | D::Varbinary(_)
        | D::Bytes(_) => plain(Type::Bytes),
        D::Date => plain(Type::Date),
        D::Time(..) => plain(Type::Time),
        D::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => plain(Type::TimestampTz),
        D::Timestamp(..) | D::Datetime(_) | D::TimestampNtz(_) => plain(Type::Timestamp),
        D::Array(_) => Err(Error::unsupported(format!("array type {words}"))),
        D::Custom(name, _) => {
            let name = name.0.last().map(ToString::to_string).unwrap_or_default().to_ascii_lowercase();
            match name.trim_matches('"') {
                "serial" | "serial4" => Ok((ColumnType::plain(Type::Integer), true)),
                "bigserial" | "serial8" => Ok((ColumnType::plain(Type::BigInt), true)),
                "smallserial" | "serial2" => Ok((ColumnType::plain(Type::SmallInt), true)),
                "oid" | "xid" => plain(Type::BigInt),
                "name" | "citext" | "bpchar" | "inet" | "regtype" | "regproc" | "regnamespace" | "char" | "xml" => {
                    plain(Type::Text)
                }
                "year" => plain(Type::Integer),
                _ => Err(Error::unsupported(format!("type {words}"))),
            }
        }
        _ => Err(Error::unsupported(format!("type {words}"))),
    }
}

fn precision(info: &ExactNumberInfo, dialect: Dialect) -> Result<Option<(u32, u32)>> {
    let (precision, scale) = match *info {
        ExactNumberInfo::None if dialect == Dialect::MySql => (10, 0),
        ExactNumberInfo::None => return Ok(None),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    match (u32::try_from(precision), u32::try_from(scale)) {
        // The decimal type ends at 28 digits. More before the point are let through and fail when they are needed.
        (Ok(precision @ 1..), Ok(scale @ 0..=28)) if scale <= precision => Ok(Some((precision, scale))),
        _ => Err(Error::unsupported(format!("numeric({precision},{scale})")).hint("At most 28 digits are kept.")),
    }
}
