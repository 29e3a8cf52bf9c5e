/** Open Cluster Management's CEL functions: JSON in strings, status conditions, and the scores of clusters. */
import type { Json } from "@flotilla/base";
import { ArrayList, CelError, CelList, CelMap, dynamicValueOf, NO_SUCH_OVERLOAD, parsedValueOf } from "@flotilla/cel";
import type { CelValue, Row } from "@flotilla/cel";

/** The scores of an AddOnPlacementScore in a cluster's namespace; undefined when it does not exist. */
export type ScoreSource = (
  cluster: string,
  name: string,
) => readonly { readonly name: string; readonly value: number }[] | undefined;

function parseJson(text: string): CelValue {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch (error) {
    // The only possible error here is invalid JSON.
    return new CelError(`failed to parse json: ${(error as SyntaxError).message}`);
  }
  return parsedValueOf(json);
}

function hasConditions(status: CelValue): CelValue {
  const conditions = status instanceof CelMap ? status.find("conditions") : undefined;
  return conditions instanceof CelList && conditions.size > 0;
}

function clusterName(cluster: CelValue): string | CelError {
  if (!(cluster instanceof CelMap)) return NO_SUCH_OVERLOAD;
  const metadata = cluster.find("metadata");
  if (!(metadata instanceof CelMap)) return new CelError("failed to get cluster metadata");
  const name = metadata.find("name");
  return typeof name === "string" ? name : new CelError("failed to get cluster name");
}

const scoresOf =
  (source: ScoreSource) =>
  (cluster: CelValue, score: CelValue): CelValue => {
    const name = clusterName(cluster);
    if (name instanceof CelError || typeof score !== "string")
      return name instanceof CelError ? name : NO_SUCH_OVERLOAD;
    const found = source(name, score);
    if (!found)
      return new CelError(
        `failed to get score: addonplacementscore.cluster.open-cluster-management.io ${JSON.stringify(score)} not found`,
      );
    return new ArrayList(found.map(({ name: of, value }) => dynamicValueOf({ name: of, value })));
  };

/** For expressions that select clusters. */
export const clusterSelectorFunctions = (source: ScoreSource): readonly Row[] => [
  ["parseJSON", "parse_json_string", "string.() -> dyn", parseJson],
  ["scores", "cluster_scores", "dyn.(string) -> list(dyn)", scoresOf(source), "checks itself"],
];

/** For rules about an object's conditions. */
export const conditionRuleFunctions: readonly Row[] = [
  ["hasConditions", "status_has_conditions", "(dyn) -> bool", hasConditions, "checks itself"],
];
