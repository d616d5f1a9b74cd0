//! sea-orm: IDs in columns of 10 bytes, of UUIDs and of text. The database is SQLite in memory.
//!
//! sea-orm's traits are for a type of this program: `Id` for bytes and `Text` for text. A UUID needs no such type.

use std::error::Error;
use std::sync::Arc;

use imid::{Generator, MessageId, SessionTag, SessionType};
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, StringLen, ValueType, ValueTypeErr};
use sea_orm::{
    ColIdx, ConnectionTrait, Database, QueryOrder, QueryResult, Schema, TryFromU64, TryGetError, TryGetable,
};

/// An ID in a column of 10 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Id(MessageId);

impl From<Id> for Value {
    fn from(id: Id) -> Self {
        id.0.to_bytes().to_vec().into()
    }
}

impl TryGetable for Id {
    fn try_get_by<I: ColIdx>(row: &QueryResult, column: I) -> Result<Self, TryGetError> {
        let bytes = Vec::<u8>::try_get_by(row, column)?;
        let error = |error| DbErr::TryIntoErr { from: "Vec<u8>", into: "MessageId", source: Arc::new(error) };
        Ok(Self(MessageId::try_from(bytes).map_err(error)?))
    }
}

impl ValueType for Id {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        MessageId::try_from(<Vec<u8> as ValueType>::try_from(value)?).map(Self).map_err(|_| ValueTypeErr)
    }

    fn type_name() -> String {
        "Id".to_owned()
    }

    fn array_type() -> ArrayType {
        ArrayType::Bytes
    }

    fn column_type() -> ColumnType {
        ColumnType::VarBinary(StringLen::N(10))
    }
}

/// For `Option<Id>`.
impl Nullable for Id {
    fn null() -> Value {
        Value::Bytes(None)
    }
}

/// For primary keys. The database does not number these rows.
impl TryFromU64 for Id {
    fn try_from_u64(_: u64) -> Result<Self, DbErr> {
        Err(DbErr::ConvertFromU64("Id"))
    }
}

/// An ID in a column of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeriveValueType)]
#[sea_orm(value_type = "String", from_str = "Text::read", to_str = "Text::write", column_type = "Char(Some(19))")]
pub struct Text(MessageId);

impl Text {
    fn read(text: &str) -> Result<Self, imid::error::ParseError> {
        text.parse().map(Self)
    }

    fn write(&self) -> String {
        self.0.to_string()
    }
}

mod message {
    use super::{Id, Text};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, PartialEq, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "messages")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Id,
        pub view: Uuid,
        pub letters: Text,
        pub reply_to: Option<Id>,
        pub body: String,
    }

    #[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let db = Database::connect("sqlite::memory:").await?;
    db.execute(&Schema::new(db.get_database_backend()).create_table_from_entity(message::Entity)).await?;

    // The rows are not inserted in the order of time.
    let ids = Generator::new();
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let [first, second, third] = [ids.generate(room)?, ids.generate(room)?, ids.generate(room)?];
    for (id, body) in [(third, "yes"), (first, "hello"), (second, "is anybody here?")] {
        let row = message::ActiveModel {
            id: Set(Id(id)),
            view: Set(id.to_uuid()),
            letters: Set(Text(id)),
            reply_to: Set((id == third).then_some(Id(second))),
            body: Set(body.to_owned()),
        };
        row.insert(&db).await?;
    }

    for column in [message::Column::Id, message::Column::View, message::Column::Letters] {
        let rows = message::Entity::find().order_by_asc(column).all(&db).await?;
        assert_eq!(rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), [first, second, third], "{column:?}");
        assert!(rows.iter().all(|row| MessageId::from_uuid(row.view) == Ok(row.id.0) && row.letters.0 == row.id.0));
        assert_eq!(rows[2].reply_to, Some(Id(second)));
    }

    // All messages from the second one to the end of its second.
    let until = MessageId::range(..second.timestamp_ms() / 1_000 * 1_000 + 1_000)?;
    let rows = message::Entity::find()
        .filter(message::Column::Id.between(Id(second), Id(*until.end())))
        .order_by_asc(message::Column::Id)
        .all(&db)
        .await?;
    for row in &rows {
        println!("{}  {}", row.id.0, row.body);
    }
    assert_eq!(rows.first().map(|row| row.id.0), Some(second));

    let one = message::Entity::find_by_id(Id(first)).one(&db).await?.ok_or("the first message is stored")?;
    assert_eq!(one.body, "hello");
    let some = message::Entity::find().filter(message::Column::Id.is_in([Id(first), Id(third)])).count(&db).await?;
    assert_eq!(some, 2);

    db.execute_unprepared("UPDATE messages SET id = x'66a8' WHERE body = 'hello'").await?;
    let error = message::Entity::find().order_by_asc(message::Column::Id).all(&db).await.expect_err("2 bytes");
    assert!(error.to_string().contains("expected 10 bytes, found 2"), "{error}");
    println!("{error}");
    Ok(())
}
