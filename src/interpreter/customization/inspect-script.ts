/** What can be seen in a script without running it, and what its author should know of. */
import type { Expression, FunctionBody, Statement } from "../lua/ast.ts";
import { DISABLED_FUNCTIONS, LIBRARY_NAMES } from "../lua/index.ts";
import { parse } from "../lua/parser.ts";

interface Use {
  name: string;
  line: number;
}

export interface ScriptFacts {
  /** Calls of functions that Karmada takes away: they never succeed. */
  disabledCalls: Use[];
  /** Values that are put under the name of something of Lua's own. */
  shadowed: Use[];
  /** Other global variables that are set; functions are not counted. */
  assigned: Use[];
  /** Lines on which the function returns a table that is no whole object. */
  bareReturns: number[];
}

/** Of a script that compiles. */
export function inspectScript(source: string, functionName: string): ScriptFacts {
  const { main, globals } = parse(source, "<string>");
  const set = new Set(globals.filter(({ assigned }) => assigned).map(({ name }) => name));
  const facts: ScriptFacts = { disabledCalls: [], shadowed: [], assigned: [], bareReturns: [] };
  for (const node of nodesIn(main)) {
    if (node.kind === "call" && "callee" in node && node.callee.kind === "global") {
      const { name } = node.callee;
      if (DISABLED_FUNCTIONS.includes(name) && !set.has(name)) facts.disabledCalls.push({ name, line: node.line });
    }
    if (node.kind !== "assign") continue;
    for (const [index, target] of node.targets.entries()) {
      if (target.kind !== "global") continue;
      const value = node.values[index];
      const use = { name: target.name, line: target.line };
      if (LIBRARY_NAMES.has(target.name)) facts.shadowed.push(use);
      else if (value?.kind !== "function") facts.assigned.push(use);
      if (target.name === functionName && value?.kind === "function") facts.bareReturns.push(...bareReturnsOf(value.body));
    }
  }
  for (const uses of [facts.disabledCalls, facts.shadowed, facts.assigned]) uses.sort((a, b) => a.line - b.line);
  facts.bareReturns.sort((a, b) => a - b);
  return facts;
}

type Node = Expression | Statement;
const isNode = (value: object): value is Node => "kind" in value;

/** Every statement and expression below a part of the tree, in no order. The tree may be as deep as the parser allows, so nothing recurses. */
function* nodesIn(part: object, into: (node: Node) => boolean = () => true): Generator<Node> {
  const waiting: object[] = [part];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (isNode(next)) {
      yield next;
      if (!into(next)) continue;
    }
    for (const value of Object.values(next) as unknown[]) if (typeof value === "object" && value !== null) waiting.push(value);
  }
}

const OBJECT_FIELDS = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);

/** Returns of a table whose names are all written there and are none of an object's own. */
function bareReturnsOf({ block }: FunctionBody): number[] {
  const lines: number[] = [];
  for (const node of nodesIn(block, ({ kind }) => kind !== "function" && kind !== "localFunction")) {
    const value = node.kind === "return" ? node.values[0] : undefined;
    if (value?.kind !== "table" || value.fields.length === 0) continue;
    if (value.fields.every(({ key }) => key?.kind === "string" && !OBJECT_FIELDS.has(key.value))) lines.push(node.line);
  }
  return lines;
}
