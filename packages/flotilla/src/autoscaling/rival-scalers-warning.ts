/**
 * Warns the writer of an autoscaler that another one scales the same target: each sets what the other has changed. It is
 * valid, because their schedules may not overlap.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { AdmissionStep, Kind } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { CronFederatedHpa, FederatedHpa } from "@flotilla/karmada";

type Scaler = Pick<FederatedHpa, "kind" | "metadata"> & {
  spec: { scaleTargetRef: FederatedHpa["spec"]["scaleTargetRef"] };
};
const SCALERS = [FederatedHpa, CronFederatedHpa] as unknown as readonly Kind<FederatedHpa>[];

export const rivalScalersWarning: AdmissionStep<FederatedHpa> = {
  name: "RivalScalersWarning",
  for: ({ group, plural, foreign }) =>
    !foreign && SCALERS.some((kind) => kind.group === group && kind.plural === plural),
  on: ["CREATE", "UPDATE"],
  matches: ({ subresource }) => subresource === undefined,
  check({ object, read, warn }) {
    const others = SCALERS.flatMap((kind) => read.list(kind, object.metadata.namespace));
    const [rival] = others.filter((other) => isRival(object, other));
    if (!rival) return;
    const { kind, name } = object.spec.scaleTargetRef;
    warn(
      `spec.scaleTargetRef: ${rival.kind} ${rival.metadata.name} also scales ${kind} ${name}; when both change it back and forth, the hub stops both`,
    );
  },
};

function isRival(object: DeepReadonly<Scaler>, other: DeepReadonly<Scaler>): boolean {
  const [a, b] = [object.spec.scaleTargetRef, other.spec.scaleTargetRef];
  return (
    (object.kind !== other.kind || object.metadata.name !== other.metadata.name) &&
    other.metadata.deletionTimestamp === undefined &&
    a.kind === b.kind &&
    a.name === b.name &&
    parseApiVersion(a.apiVersion ?? "").group === parseApiVersion(b.apiVersion ?? "").group
  );
}
