/** What the fields of a kind do, by their path. */

export type FieldDescriptions = Readonly<Record<string, string>>;
