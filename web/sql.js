// Conditions for the databases whose columns docs/STORES.md describes.

/** How a column keeps an ID, and what of its forms goes into the condition. @type {Record<string, (forms: Record<string, string>) => string>} */
export const formsOf = { bytes: (forms) => forms.hex, text: (forms) => forms.text, uuid: (forms) => forms.uuid };

/** @param {(hex: string) => string} bytes writes a literal of bytes */
const between = (bytes) => (/** @type {string} */ first, /** @type {string} */ last, /** @type {string} */ form) => {
  const literal = (/** @type {string} */ value) => (form === "bytes" ? bytes(value) : `'${value}'`);
  return `WHERE id BETWEEN ${literal(first)} AND ${literal(last)}`;
};

/** @type {Record<string, (first: string, last: string, form: string) => string>} */
export const whereClauses = {
  PostgreSQL: between((hex) => `'\\x${hex}'::bytea`),
  MySQL: between((hex) => `x'${hex}'`),
  SQLite: between((hex) => `x'${hex}'`),
  ClickHouse: between((hex) => `unhex('${hex}')`),
  DuckDB: between((hex) => `unhex('${hex}')`),
};
