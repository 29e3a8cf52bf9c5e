/** The syntax tree. Names are already resolved: a local knows its variable, everything else is a global. */

/** A local variable, a parameter or a loop variable. */
export interface Variable {
  readonly name: string;
  /** Different for every variable of a script. */
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
export type UnaryOperator = "-" | "not" | "#";

/** `line` is the one that an error message of this expression names. */
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
  /** In parentheses: of several values only the first. */
  | { kind: "first"; of: Expression }
);
export type ExpressionOf<K extends Expression["kind"]> = Extract<Expression, { kind: K }>;

/** Without a key the value goes to the next position of the list. */
export interface TableField {
  key?: Expression;
  value: Expression;
}

export interface FunctionBody {
  parameters: Variable[];
  isVariadic: boolean;
  /** The list of extra arguments that Lua 5.0 had, where a variadic function asks for it by name. */
  argVariable?: Variable;
  block: Block;
}

export interface Label {
  readonly name: string;
  readonly id: number;
  /** Whether a `goto` before it, or after it, leads here. */
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

/** A use of a global name, for the warnings that a script's author gets. */
export interface GlobalUse {
  name: string;
  line: number;
  assigned: boolean;
}

export interface Script {
  main: FunctionBody;
  globals: readonly GlobalUse[];
}
