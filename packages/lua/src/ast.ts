/** The syntax tree. Names are already resolved: a local refers to its variable, everything else is a global. */

/** A local variable, a parameter or a loop variable. */
export interface Variable {
  readonly name: string;
  /** Unique within a script. */
  readonly id: number;
  /** Assigned after its declaration. */
  assigned: boolean;
}

export type BinaryOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "^"
  | ".."
  | "=="
  | "~="
  | "<"
  | "<="
  | ">"
  | ">="
  | "and"
  | "or";
type UnaryOperator = "-" | "not" | "#";

/** `line` is the line reported in errors of this expression. */
export type Expression = { readonly line: number } & (
  | { kind: "nil" | "true" | "false" | "vararg" }
  | { kind: "number"; value: number }
  | { kind: "string"; value: string }
  | { kind: "function"; body: FunctionBody }
  | { kind: "local"; variable: Variable }
  | { kind: "global"; name: string }
  | { kind: "index"; object: Expression; key: Expression }
  | { kind: "call"; callee: Expression; args: Expression[] }
  | { kind: "method"; receiver: Expression; name: string; args: Expression[] }
  | { kind: "binary"; operator: BinaryOperator; left: Expression; right: Expression }
  | { kind: "unary"; operator: UnaryOperator; operand: Expression }
  | { kind: "table"; fields: TableField[] }
  /** Parenthesized: only the first of several values. */
  | { kind: "first"; of: Expression }
);
export type ExpressionOf<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

/** Without a key the value is appended to the list. */
interface TableField {
  key?: Expression;
  value: Expression;
}

export interface FunctionBody {
  parameters: Variable[];
  isVariadic: boolean;
  /** The Lua 5.0 `arg` list of extra arguments, if a variadic function uses it by name. */
  argVariable?: Variable;
  block: Block;
}

export interface Label {
  readonly name: string;
  readonly id: number;
  /** Whether a `goto` before or after it jumps here. */
  fromBefore: boolean;
  fromAfter: boolean;
}

export interface Block {
  statements: Statement[];
}

export type Target = ExpressionOf<"local" | "global" | "index">;

export type Statement = { readonly line: number } & (
  | { kind: "local"; variables: Variable[]; values: Expression[] }
  | { kind: "localFunction"; variable: Variable; body: FunctionBody }
  | { kind: "assign"; targets: Target[]; values: Expression[] }
  | { kind: "call"; call: Expression }
  | { kind: "do"; block: Block }
  | { kind: "while"; condition: Expression; block: Block }
  | { kind: "repeat"; block: Block; condition: Expression }
  | { kind: "if"; condition: Expression; block: Block; otherwise?: Block }
  | { kind: "forNumber"; variable: Variable; from: Expression; to: Expression; step?: Expression; block: Block }
  | { kind: "forIn"; variables: Variable[]; values: Expression[]; block: Block }
  | { kind: "return"; values: Expression[] }
  | { kind: "break" }
  | { kind: "label"; label: Label }
  | { kind: "goto"; label: Label }
);

/** A use of a global name, for warnings to the script's author. */
export interface GlobalUse {
  name: string;
  line: number;
  assigned: boolean;
}

export interface Script {
  main: FunctionBody;
  globals: readonly GlobalUse[];
}
