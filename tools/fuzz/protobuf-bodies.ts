/**
 * Protobuf bodies that follow the tables of the kinds with arbitrary content: what a peer that knows the format could
 * send.
 */
import { structOf, type FactStruct, type FactType } from "@flotilla/apimachinery";
import type { Chance } from "./chance.ts";
import type { CorpusObject } from "./corpus.ts";
import { HOSTILE_TEXTS } from "./hostile.ts";

const TABLES: Readonly<Record<string, string>> = {
  v1: "core-v1",
  "apps/v1": "apps-v1",
  "batch/v1": "batch-v1",
  "networking.k8s.io/v1": "networking-v1",
  "rbac.authorization.k8s.io/v1": "rbac-v1",
  "autoscaling/v2": "autoscaling-v2",
  "policy/v1": "policy-v1",
  "apiextensions.k8s.io/v1": "apiextensions-v1",
};

const MAX_DEPTH = 6;

/** A body of the kind of `object` with random content; only the envelope for kinds without a table. */
export function encodeMessage(
  chance: Chance,
  { apiVersion, kind }: Pick<CorpusObject, "apiVersion" | "kind">,
): Uint8Array {
  const table = TABLES[apiVersion];
  const raw = table === undefined ? [] : structBytes(chance, structOf(table, kind), 0);
  const typeMeta = [...delimited(1, text(apiVersion)), ...delimited(2, text(kind))];
  return Uint8Array.from([0x6b, 0x38, 0x73, 0x00, ...delimited(1, typeMeta), ...delimited(2, raw)]);
}

const text = (value: string): number[] => [...Buffer.from(value)];

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

const delimited = (field: number, bytes: readonly number[]): number[] => [
  ...varint(field * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];

function structBytes(chance: Chance, struct: FactStruct, depth: number): number[] {
  const bytes: number[] = [];
  if (depth > MAX_DEPTH) return bytes;
  for (const { number, type } of struct.fields)
    if (chance.oneIn(depth === 0 ? 2 : 3)) bytes.push(...fieldBytes(chance, number, type, depth));
  return bytes;
}

function fieldBytes(chance: Chance, number: number, type: FactType, depth: number): number[] {
  switch (type.shape) {
    case "struct":
      return delimited(number, structBytes(chance, type.struct, depth + 1));
    case "list":
      return chance.list(chance.below(3), () => fieldBytes(chance, number, type.of, depth)).flat();
    case "map":
      return delimited(number, [
        ...delimited(1, text(chance.pick(HOSTILE_TEXTS))),
        ...fieldBytes(chance, 2, type.of, depth),
      ]);
    default:
      return leafBytes(chance, number, type.leaf);
  }
}

const TIMES = [0, 1, -62_135_596_800, 253_402_300_800, 2 ** 52, -1];

function leafBytes(chance: Chance, number: number, leaf: string): number[] {
  switch (leaf) {
    case "bool":
    case "int32":
    case "int64":
      return [...varint(number * 8), ...varint(chance.pick([0, 1, -1, 80, 2 ** 31, 2 ** 53, -(2 ** 63)]))];
    case "float64":
      return [
        ...varint(number * 8 + 1),
        ...new Uint8Array(Float64Array.of(chance.pick([0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -0])).buffer),
      ];
    case "Time":
    case "MicroTime":
      return delimited(number, [8, ...varint(chance.pick(TIMES)), 16, ...varint(chance.pick([0, 5, 1e9, -1]))]);
    case "Quantity":
      return delimited(number, delimited(1, text(chance.pick(["1", "1.5Gi", "x", "1e999", ""]))));
    case "IntOrString":
      return delimited(number, [
        8,
        chance.below(3),
        16,
        ...varint(chance.pick([0, 80, -1])),
        ...delimited(3, text(chance.pick(HOSTILE_TEXTS))),
      ]);
    case "RawObject":
    case "Json":
      return delimited(
        number,
        delimited(
          1,
          text(chance.pick(["{}", "null", "[1]", '{"__proto__":{"x":1}}', "x", "[".repeat(2000) + "]".repeat(2000)])),
        ),
      );
    default:
      return delimited(number, text(chance.pick(HOSTILE_TEXTS)));
  }
}
