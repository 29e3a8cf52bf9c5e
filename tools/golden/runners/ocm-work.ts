/** `ocm-work.jsonl`: single decisions about the manifests of a ManifestWork. */
import { defined } from "@flotilla/base";
import type {
  AppliedManifestResourceMeta,
  ConditionRule,
  DeleteOption,
  FeedbackRule,
  FeedbackValue,
  Manifest,
  ManifestCondition,
  ManifestResourceMeta,
} from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestConfigOption } from "@flotilla/ocm";
import type { Json, JsonObject } from "@flotilla/base";
import {
  aggregateConditions,
  applyOrder,
  evaluateRules,
  isOwned,
  mergeManifests,
  optionsOf,
  readFeedback,
  untracked,
} from "@flotilla/flotilla";
import { compareResults, equalGolden, pick } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

const MAX_RAW_LENGTH = 1024;

const listOf = <T>(input: JsonObject, field: string): T[] => (input[field] ?? []) as unknown as T[];
const json = (value: unknown): JsonObject[] => value as JsonObject[];

const kinds: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  applyOrder: (input) => ({ order: applyOrder(listOf<Manifest>(input, "manifests")) }),
  feedback(input) {
    const options = {
      rawJson: input["rawFeedbackJsonString"] === true,
      maxRawLength: Number(input["maxJsonRawLength"] ?? MAX_RAW_LENGTH),
    };
    const { values, problems } = readFeedback(
      input["object"] as unknown as KubernetesObject,
      [input["rule"] as unknown as FeedbackRule],
      options,
    );
    return { values: json(values), ...defined({ error: problems.length > 0 ? problems.join(", ") : undefined }) };
  },
  owned(input) {
    const {
      owner,
      existingOwners = [],
      deleteOption,
      ...identifier
    } = input as unknown as {
      owner: { uid: string };
      existingOwners?: { uid: string }[];
      deleteOption?: DeleteOption;
      group: string;
      resource: string;
      namespace: string;
      name: string;
    };
    const owned = isOwned(identifier, deleteOption);
    return {
      owned,
      ownerReference: { ...owner, uid: owned ? owner.uid : `${owner.uid}-` },
      isOwnedBy: existingOwners.some(({ uid }) => uid === owner.uid),
    };
  },
  manifestConfig(input) {
    const meta = input["resourceMeta"] as unknown as ManifestResourceMeta;
    const options = optionsOf(meta, listOf<ManifestConfigOption>(input, "manifestConfigs"));
    const { group = "", resource = "", namespace = "", name = "" } = meta;
    return {
      option: options
        ? ({ ...options, resourceIdentifier: { group, resource, namespace, name } } as unknown as JsonObject)
        : null,
    };
  },
  untracked(input) {
    const found = untracked(
      listOf<AppliedManifestResourceMeta>(input, "appliedResources"),
      listOf<AppliedManifestResourceMeta>(input, "newAppliedResources"),
    );
    // Go omits an empty string.
    return { untracked: json(found.map(({ uid, ...rest }) => ({ ...rest, uid: uid || undefined }))) };
  },
  mergeConditions: (input) => ({
    conditions: json(
      mergeManifests(
        listOf<ManifestCondition>(input, "conditions"),
        listOf<ManifestCondition>(input, "newConditions"),
        "{{NOW}}",
      ),
    ),
  }),
  aggregateConditions: (input) => ({
    conditions: json(aggregateConditions(Number(input["generation"]), listOf<ManifestCondition>(input, "conditions"))),
  }),
  conditionRules: (input) => ({
    conditions: json(
      evaluateRules(input["object"] as unknown as KubernetesObject, listOf<ConditionRule>(input, "conditionRules")),
    ),
  }),
};

const general = compareResults({ run: (input) => pick(kinds, input["kind"])(input) });

const STATEFUL_SETS = "StatefulSets have a well-known status. OCM has none for them.";

/** Feedback returns values and an error at the same time. */
function check(line: GoldenCase): ReturnType<CaseRunner["check"]> {
  const { input = {}, want, wantAnyOf } = line;
  if (input["kind"] !== "feedback") return general.check(line);
  const got = pick(kinds, "feedback")(input);
  const accepted = wantAnyOf ?? (want ? [want] : []);
  // The original iterates over a map where its result differs between runs.
  const values = (result: JsonObject): Json =>
    wantAnyOf ? listOf<FeedbackValue>(result, "values").map(inOrder) : (result["values"] ?? null);
  const isGood = accepted.some(
    (one) => equalGolden(values(got), values(one)) && (got["error"] === undefined) === (one["error"] === undefined),
  );
  return isGood
    ? undefined
    : `got ${JSON.stringify(got)}, want ${accepted.map((one) => JSON.stringify(one)).join(" or ")}`;
}

function inOrder({ name, fieldValue }: FeedbackValue): JsonObject {
  const raw = fieldValue.jsonRaw === undefined ? undefined : (JSON.parse(fieldValue.jsonRaw) as Json);
  return { name, value: Array.isArray(raw) ? raw.map((item) => JSON.stringify(item)).toSorted() : { ...fieldValue } };
}

function reasonFor({ input = {} }: GoldenCase): string | undefined {
  const { apiVersion, kind } = (input["object"] ?? {}) as unknown as KubernetesObject;
  return input["kind"] === "feedback" && apiVersion === "apps/v1" && kind === "StatefulSet" ? STATEFUL_SETS : undefined;
}

export const ocmWork: CaseRunner = { check, reasonFor };
