/**
 * Fixtures: one document per case, with an operation, its inputs and what is wanted. Flotilla's own field names and those of
 * Karmada's test data mean the same.
 */
import { FlotillaError, isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import type { Operation, StatusItem } from "../../interpreter/index.ts";
import type { Document } from "./documents.ts";
import { findRule, OPERATION_NAMES } from "./rules.ts";
import type { RuleInput } from "./run-rule.ts";

export interface Fixture {
  name: string;
  file: string;
  line: number;
  operation: Operation;
  input: RuleInput;
  /** Wanted results by name; those that are not named may be anything. */
  want: Readonly<Record<string, Json>>;
  /** Part of the message with which the rule must fail. */
  wantError: string | undefined;
}

/** A fixture that does not say what it needs to. */
export class FixtureError extends FlotillaError {
  constructor({ file, line }: Pick<Document, "file" | "line">, message: string) {
    super("Fixture", `${file}:${line}: ${message}`);
  }
}

/** What Karmada calls the fields. */
const KARMADA_NAMES: Readonly<Record<string, string>> = { desiredObj: "desired", observedObj: "observed", inputReplicas: "replicas", output: "want" };
const FIELDS = new Set(["name", "description", "operation", "desired", "observed", "statusItems", "replicas", "want", "wantError"]);
/** Karmada's runner fills it in itself. */
const IGNORED = new Set(["filepath"]);

/** Throws `FixtureError`, since a case that is misspelt must not pass. */
export function readFixture(document: Document): Fixture {
  const fields = fieldsOf(document);
  const fail = (message: string): never => {
    throw new FixtureError(document, message);
  };
  const operation = fields["operation"];
  const rule = (typeof operation === "string" ? findRule(operation) : undefined) ?? fail(`operation is one of ${OPERATION_NAMES.join(", ")}, not ${JSON.stringify(operation ?? null)}`);
  const { name = rule.operation, replicas = 0, want = {}, wantError } = fields;
  if (typeof name !== "string") return fail("name is a text");
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) return fail("replicas is a whole number");
  if (!isObject(want)) return fail("want has the results by name: healthy: true");
  if (wantError !== undefined && typeof wantError !== "string") return fail("wantError is a part of the message that is expected");
  if (wantError !== undefined && Object.keys(want).length > 0) return fail("want and wantError exclude each other");
  return {
    name,
    file: document.file,
    line: document.line,
    operation: rule.operation,
    input: { desired: objectIn(document, fields, "desired"), observed: objectIn(document, fields, "observed"), statusItems: itemsIn(document, fields), replicas },
    want,
    wantError,
  };
}

function fieldsOf(document: Document): JsonObject {
  if (!isObject(document.value)) throw new FixtureError(document, "a fixture is a mapping with name, operation, inputs and want");
  const fields: JsonObject = {};
  for (const [given, value] of Object.entries(document.value)) {
    if (IGNORED.has(given)) continue;
    const field = Object.hasOwn(KARMADA_NAMES, given) ? (KARMADA_NAMES[given] ?? given) : given;
    if (!FIELDS.has(field)) throw new FixtureError(document, `a fixture has no field ${given}; it has ${[...FIELDS].join(", ")}`);
    if (Object.hasOwn(fields, field)) throw new FixtureError(document, `${field} is there twice, once under Karmada's name`);
    if (value !== null) fields[field] = value;
  }
  return fields;
}

function objectIn(document: Document, fields: JsonObject, field: "desired" | "observed"): JsonObject | undefined {
  const value = fields[field];
  if (value === undefined || isObject(value)) return value;
  throw new FixtureError(document, `${field} is an object of Kubernetes`);
}

function itemsIn(document: Document, { statusItems }: JsonObject): readonly StatusItem[] | undefined {
  if (statusItems === undefined) return undefined;
  if (Array.isArray(statusItems) && statusItems.every(isObject)) return statusItems as unknown as StatusItem[];
  throw new FixtureError(document, "statusItems is a list with clusterName and status");
}
