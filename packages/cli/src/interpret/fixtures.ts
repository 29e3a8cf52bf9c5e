/**
 * Fixtures: one document per case, with an operation, its inputs and the expected result. Flotilla's own field names
 * and those of Karmada's test data are equivalent.
 */
import { FlotillaError, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Share, StatusItem } from "@flotilla/kubernetes";
import type { Document } from "./documents.ts";
import { findOperation, OPERATION_NAMES } from "./interpreter-rules.ts";
import type { RunOperation } from "./interpreter-rules.ts";
import type { RuleInput } from "./run-rule.ts";

export interface Fixture {
  name: string;
  file: string;
  line: number;
  operation: RunOperation;
  input: RuleInput;
  /** Expected results by name; results that are not named may have any value. */
  want: Readonly<Record<string, Json>>;
  /** A substring of the message with which the rule must fail. */
  wantError: string | undefined;
}

/** An invalid fixture. */
class FixtureError extends FlotillaError {
  constructor({ file, line }: Pick<Document, "file" | "line">, message: string) {
    super("Fixture", `${file}:${line}: ${message}`);
  }
}

/** Karmada's names for the fields. */
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
/** Karmada's test runner fills it in itself. */
const IGNORED = new Set(["filepath"]);

/** Throws `FixtureError`, because a misspelled case must not pass. */
export function readFixture(document: Document): Fixture {
  const fields = fieldsOf(document);
  const fail = (message: string): never => {
    throw new FixtureError(document, message);
  };
  const given = fields["operation"];
  const operation =
    (typeof given === "string" ? findOperation(given) : undefined) ??
    fail(`operation must be one of ${OPERATION_NAMES.join(", ")}, not ${JSON.stringify(given ?? null)}`);
  const { name = operation, replicas = 0, want = {}, wantError } = fields;
  if (typeof name !== "string") return fail("name must be a string");
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) return fail("replicas must be an integer");
  if (!isObject(want)) return fail("want must contain the results by name: healthy: true");
  if (fields["want"] === undefined && wantError === undefined)
    return fail("a fixture needs an expectation: want or wantError");
  if (wantError !== undefined && typeof wantError !== "string")
    return fail("wantError must be a substring of the expected message");
  if (wantError !== undefined && Object.keys(want).length > 0) return fail("want and wantError are mutually exclusive");
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
    throw new FixtureError(document, "a fixture must be a mapping with name, operation, inputs and want");
  const fields: JsonObject = {};
  for (const [given, value] of Object.entries(document.value)) {
    if (IGNORED.has(given)) continue;
    const field = Object.hasOwn(KARMADA_NAMES, given) ? (KARMADA_NAMES[given] ?? given) : given;
    if (!FIELDS.has(field))
      throw new FixtureError(document, `unknown field ${given}; a fixture has ${[...FIELDS].join(", ")}`);
    if (Object.hasOwn(fields, field))
      throw new FixtureError(document, `${field} is given twice, once under Karmada's name`);
    if (value !== null) fields[field] = value;
  }
  return fields;
}

function objectIn(document: Document, fields: JsonObject, field: "desired" | "observed"): JsonObject | undefined {
  const value = fields[field];
  if (value === undefined || isObject(value)) return value;
  throw new FixtureError(document, `${field} must be a Kubernetes object`);
}

function itemsIn(document: Document, { statusItems }: JsonObject): readonly StatusItem[] | undefined {
  if (statusItems === undefined) return undefined;
  if (Array.isArray(statusItems) && statusItems.every(isObject)) return statusItems as unknown as StatusItem[];
  throw new FixtureError(document, "statusItems must be a list with clusterName and status");
}

function sharesIn(document: Document, { shares }: JsonObject): readonly Share[] | undefined {
  if (shares === undefined) return undefined;
  const isShare = (share: Json): boolean =>
    isObject(share) && typeof share["cluster"] === "string" && Number.isInteger(share["replicas"]);
  if (Array.isArray(shares) && shares.every(isShare)) return shares as unknown as Share[];
  throw new FixtureError(document, "shares must be a list with cluster and replicas");
}
