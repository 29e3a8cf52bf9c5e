/**
 * Fixtures: one document per case, with an operation, its inputs and what is wanted. Flotilla's own field names and
 * those of Karmada's test data mean the same.
 */
import { FlotillaError, isObject } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import type { Share, StatusItem } from "../../interpreter/index.ts";
import type { Document } from "./documents.ts";
import { findOperation, OPERATION_NAMES } from "./rules.ts";
import type { RunOperation } from "./rules.ts";
import type { RuleInput } from "./run-rule.ts";

export interface Fixture {
  name: string;
  file: string;
  line: number;
  operation: RunOperation;
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
const KARMADA_NAMES: Readonly<Record<string, string>> = {
  desiredObj: "desired",
  observedObj: "observed",
  inputReplicas: "replicas",
  output: "want",
};
const FIELDS = new Set([
  "name",
  "description",
  "operation",
  "desired",
  "observed",
  "statusItems",
  "replicas",
  "shares",
  "want",
  "wantError",
]);
/** Karmada's runner fills it in itself. */
const IGNORED = new Set(["filepath"]);

/** Throws `FixtureError`, since a case that is misspelt must not pass. */
export function readFixture(document: Document): Fixture {
  const fields = fieldsOf(document);
  const fail = (message: string): never => {
    throw new FixtureError(document, message);
  };
  const given = fields["operation"];
  const operation =
    (typeof given === "string" ? findOperation(given) : undefined) ??
    fail(`operation is one of ${OPERATION_NAMES.join(", ")}, not ${JSON.stringify(given ?? null)}`);
  const { name = operation, replicas = 0, want = {}, wantError } = fields;
  if (typeof name !== "string") return fail("name is a text");
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) return fail("replicas is a whole number");
  if (!isObject(want)) return fail("want has the results by name: healthy: true");
  if (fields["want"] === undefined && wantError === undefined)
    return fail("a fixture says what is expected: want or wantError");
  if (wantError !== undefined && typeof wantError !== "string")
    return fail("wantError is a part of the message that is expected");
  if (wantError !== undefined && Object.keys(want).length > 0) return fail("want and wantError exclude each other");
  return {
    name,
    file: document.file,
    line: document.line,
    operation,
    input: {
      desired: objectIn(document, fields, "desired"),
      observed: objectIn(document, fields, "observed"),
      statusItems: itemsIn(document, fields),
      replicas,
      shares: sharesIn(document, fields),
    },
    want,
    wantError,
  };
}

function fieldsOf(document: Document): JsonObject {
  if (!isObject(document.value))
    throw new FixtureError(document, "a fixture is a mapping with name, operation, inputs and want");
  const fields: JsonObject = {};
  for (const [given, value] of Object.entries(document.value)) {
    if (IGNORED.has(given)) continue;
    const field = Object.hasOwn(KARMADA_NAMES, given) ? (KARMADA_NAMES[given] ?? given) : given;
    if (!FIELDS.has(field))
      throw new FixtureError(document, `a fixture has no field ${given}; it has ${[...FIELDS].join(", ")}`);
    if (Object.hasOwn(fields, field))
      throw new FixtureError(document, `${field} is there twice, once under Karmada's name`);
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

function sharesIn(document: Document, { shares }: JsonObject): readonly Share[] | undefined {
  if (shares === undefined) return undefined;
  const isShare = (share: Json): boolean =>
    isObject(share) && typeof share["cluster"] === "string" && Number.isInteger(share["replicas"]);
  if (Array.isArray(shares) && shares.every(isShare)) return shares as unknown as Share[];
  throw new FixtureError(document, "shares is a list with cluster and replicas");
}
