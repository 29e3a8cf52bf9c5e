/** Static analysis of a script, for warnings to its author. */
import type { Expression, FunctionBody, Statement } from "@flotilla/lua";
import { DISABLED_FUNCTIONS, libraryHas, LIBRARY_NAMES } from "../scripts/index.ts";
import { parse } from "@flotilla/lua";

interface Use {
  name: string;
  line: number;
}

export interface ScriptFacts {
  /** Calls of functions that Karmada disables; they always fail. */
  disabledCalls: Use[];
  /** Assignments that shadow a Lua built-in. */
  shadowed: Use[];
  /** Other global assignments, without functions. */
  assigned: Use[];
  /** Undefined names that are called or indexed: they are nil. */
  absent: Use[];
  /** Lines on which the function returns a table that is not a whole object. */
  bareReturns: number[];
}

/** The script must compile. */
export function inspectScript(source: string, functionName: string): ScriptFacts {
  const { main, globals } = parse(source, "<string>");
  const set = new Set(globals.filter(({ assigned }) => assigned).map(({ name }) => name));
  const facts: ScriptFacts = { disabledCalls: [], shadowed: [], assigned: [], absent: [], bareReturns: [] };
  for (const node of nodesIn(main)) {
    const called = node.kind === "call" && "callee" in node ? libraryFunction(node.callee) : undefined;
    if (called !== undefined && DISABLED.has(called.name) && !set.has(called.global))
      facts.disabledCalls.push({ name: called.name, line: node.line });
    const absent = undefinedNameIn(node, set);
    if (absent !== undefined) facts.absent.push({ name: absent, line: node.line });
    if (node.kind !== "assign") continue;
    for (const [index, target] of node.targets.entries()) {
      if (target.kind !== "global") continue;
      const value = node.values[index];
      const use = { name: target.name, line: target.line };
      if (LIBRARY_NAMES.has(target.name)) facts.shadowed.push(use);
      else if (value?.kind !== "function") facts.assigned.push(use);
      if (target.name === functionName && value?.kind === "function")
        facts.bareReturns.push(...bareReturnsOf(value.body));
    }
  }
  return {
    disabledCalls: firstUses(facts.disabledCalls),
    shadowed: firstUses(facts.shadowed),
    assigned: firstUses(facts.assigned),
    absent: firstUses(facts.absent),
    bareReturns: facts.bareReturns.sort((a, b) => a - b),
  };
}

const DISABLED: ReadonlySet<string> = new Set([...DISABLED_FUNCTIONS, "string.dump", "string.gsub", "string.rep"]);

/** The function a call names, if it is a global name or a field of one. */
function libraryFunction(callee: Expression): { name: string; global: string } | undefined {
  if (callee.kind === "global") return { name: callee.name, global: callee.name };
  if (callee.kind !== "index" || callee.object.kind !== "global" || callee.key.kind !== "string") return undefined;
  return { name: `${callee.object.name}.${callee.key.value}`, global: callee.object.name };
}

/** The undefined name in a call or index expression: a global that is not set, or a function that its library lacks. */
function undefinedNameIn(node: Node, set: ReadonlySet<string>): string | undefined {
  const asked =
    node.kind === "call" && "callee" in node ? node.callee : node.kind === "index" ? node.object : undefined;
  if (asked?.kind === "global") return set.has(asked.name) || LIBRARY_NAMES.has(asked.name) ? undefined : asked.name;
  const called = asked && libraryFunction(asked);
  if (node.kind !== "call" || called === undefined || set.has(called.global) || DISABLED.has(called.name))
    return undefined;
  return libraryHas(called.global, called.name.slice(called.global.length + 1)) === false ? called.name : undefined;
}

/** Sorted by line, each name once. */
function firstUses(uses: readonly Use[]): Use[] {
  const seen = new Set<string>();
  return uses.toSorted((a, b) => a.line - b.line).filter(({ name }) => seen.size < seen.add(name).size);
}

type Node = Expression | Statement;
const isNode = (value: object): value is Node => "kind" in value;

/**
 * Every statement and expression below a node, in no particular order. Iterative, because the tree may be as deep as
 * the parser allows.
 */
function* nodesIn(part: object, into: (node: Node) => boolean = () => true): Generator<Node> {
  const waiting: object[] = [part];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (isNode(next)) {
      yield next;
      if (!into(next)) continue;
    }
    for (const value of Object.values(next) as unknown[])
      if (typeof value === "object" && value !== null) waiting.push(value);
  }
}

const OBJECT_FIELDS = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);

/** Returns of a table constructor whose keys are all literal and none of them a top-level object field. */
function bareReturnsOf({ block }: FunctionBody): number[] {
  const lines: number[] = [];
  for (const node of nodesIn(block, ({ kind }) => kind !== "function" && kind !== "localFunction")) {
    const value = node.kind === "return" ? node.values[0] : undefined;
    if (value?.kind !== "table" || value.fields.length === 0) continue;
    if (value.fields.every(({ key }) => key?.kind === "string" && !OBJECT_FIELDS.has(key.value))) lines.push(node.line);
  }
  return lines;
}
