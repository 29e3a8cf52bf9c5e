/** The metric families that kruise-state-metrics exports for every kind, and readers for the fields of its objects. */
import { gauge, objectOf, numberOf, listOf } from "@flotilla/base";
import type { Fields, Sample, StateFamily, StateView } from "@flotilla/kubernetes";

export const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export const generationOf = ({ metadata }: StateView): number => metadata.generation ?? 0;
export const replicasOf = ({ spec }: StateView): number =>
  typeof spec["replicas"] === "number" ? spec["replicas"] : 1;
export const strategyOf = ({ spec }: StateView): Fields => objectOf(spec["updateStrategy"]);
export const rollingOf = (view: StateView): Fields => objectOf(strategyOf(view)["rollingUpdate"]);
/** A number of the status; 0 if it is absent. */
export const count =
  (field: string) =>
  ({ status }: StateView): number =>
    numberOf(status[field]);
/** A partition as a label, because it may be a percentage. */
export const partitionSamples = (value: unknown): readonly Sample[] =>
  value === undefined || value === null ? [] : [[[textOf(value)], 0]];

/** An int-or-percent value, as Kubernetes reads it; 0 if it cannot be parsed. */
export function shareOf(value: unknown, total: number, round: (share: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d{1,6})%$/.exec(textOf(value))?.[1];
  return percent === undefined ? 0 : round((Number(percent) * total) / 100);
}

/** The metric families of one kind. Their names start with the kind, and their labels with namespace and name. */
export function familiesOf(kind: string): {
  family(name: string, help: string, samplesOf: StateFamily["samplesOf"], ...labels: string[]): StateFamily;
  figure(name: string, help: string, valueOf: (view: StateView) => number): StateFamily;
  created: StateFamily;
  labels: StateFamily;
  annotations: StateFamily;
  conditions(): StateFamily;
} {
  const family = (
    name: string,
    help: string,
    samplesOf: StateFamily["samplesOf"],
    ...labels: string[]
  ): StateFamily => ({ metric: gauge(`kruise_${kind}_${name}`, help, "namespace", kind, ...labels), samplesOf });
  return {
    family,
    figure: (name, help, valueOf) => family(name, help, (view) => [[[], valueOf(view)]]),
    created: family("created", "Creation time in seconds since 1970.", ({ metadata: { creationTimestamp } }) =>
      creationTimestamp ? [[[], Date.parse(creationTimestamp) / 1000]] : [],
    ),
    // kruise-state-metrics exports the labels and annotations that its flags list; without flags it exports none, only
    // that the object exists.
    labels: family("labels", "1 for every object; its own labels are not exported.", () => [[[], 1]]),
    annotations: family("annotations", "1 for every object; its annotations are not exported.", () => [[[], 1]]),
    conditions: () =>
      family(
        "status_condition",
        "Conditions of the object: 1 for the current status of a condition, 0 for the others.",
        ({ status }) =>
          listOf(status["conditions"]).flatMap((each) =>
            STATUSES.map((value): Sample => [
              [textOf(objectOf(each)["type"]), value.toLowerCase()],
              objectOf(each)["status"] === value ? 1 : 0,
            ]),
          ),
        "condition",
        "status",
      ),
  };
}

const STATUSES = ["True", "False", "Unknown"] as const;
