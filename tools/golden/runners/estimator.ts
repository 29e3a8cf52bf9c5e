/** `estimator.jsonl`: how many replicas or sets of components fit a member, and how its nodes are counted by grade. */
import type { Cluster } from "@flotilla/karmada";
import type { Node, Pod } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { tryParseQuantity } from "@flotilla/apimachinery";
import {
  estimateReplicas,
  estimateSets,
  planAllocatableModelings,
  readCapacity,
  readComponentSet,
  readRequest,
} from "@flotilla/flotilla";
import type { Capacity } from "@flotilla/flotilla";
import { compareResults, pick } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

type Components = Parameters<typeof readComponentSet>[0];

const clusterOf = (input: JsonObject): Cluster => input["cluster"] as unknown as Cluster;
const capacityOf = (input: JsonObject): Capacity | undefined => readCapacity(clusterOf(input));
const componentsOf = (input: JsonObject): Components => (input["components"] ?? []) as unknown as Components;

const kinds: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  replicas: (input) => ({
    replicas: estimateReplicas(
      capacityOf(input),
      readRequest((input["replicaRequirements"] ?? undefined) as Parameters<typeof readRequest>[0]),
    ),
  }),
  componentSets: (input) => ({ sets: estimateSets(capacityOf(input), readComponentSet(componentsOf(input))) }),
  modeling(input) {
    const [nodes, pods] = [input["nodes"] ?? [], input["pods"] ?? []] as unknown as [Node[], Pod[]];
    return {
      allocatableModelings: (planAllocatableModelings(clusterOf(input).spec.resourceModels, nodes, pods) ??
        null) as unknown as JsonObject[] | null,
    };
  },
};

const FULL_NODES =
  "A node without a free pod slot is skipped and later nodes are counted. Karmada stops counting at the first such node.";
const NOTATIONS =
  "A quantity has the same value in both notations. Karmada counts decimal ones (100M) in thousandths and " +
  "binary ones (1Gi) in units, so that a request next to the other notation counts a thousandfold, or as zero.";

const OVERFLOW = "Karmada's number of sets does not fit into 32 bits and becomes negative.";

function reasonFor({ input = {}, want, quirk }: GoldenCase): string | undefined {
  if (input["kind"] === "modeling" && quirk?.startsWith("counting stops")) return FULL_NODES;
  if (Number(want?.["sets"]) < 0) return OVERFLOW;
  return input["kind"] === "componentSets" && mixesNotations(input) ? NOTATIONS : undefined;
}

function mixesNotations(input: JsonObject): boolean {
  const { allocatable = {} } = clusterOf(input).status?.resourceSummary ?? {};
  const isBinary = (quantity: string | number | undefined): boolean =>
    tryParseQuantity(quantity ?? "0")?.format === "BinarySI";
  const requests = componentsOf(input).flatMap(({ replicaRequirements }) =>
    Object.entries(replicaRequirements?.resourceRequest ?? {}),
  );
  return requests.some(([name, quantity]) => isBinary(quantity) !== isBinary(allocatable[name]));
}

export const estimator: CaseRunner = {
  ...compareResults({ run: (input) => pick(kinds, input["kind"])(input) }),
  reasonFor,
};
