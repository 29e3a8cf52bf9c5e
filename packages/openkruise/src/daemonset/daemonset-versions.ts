/**
 * Converts Advanced DaemonSet between v1alpha1 and v1beta1. Progressive pod creation is an annotation in v1alpha1 and a
 * field in v1beta1; the hash in the status has another name. `Surging` was removed from v1beta1, where a surge needs no
 * separate type.
 */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { changeObject, objectAt, renamed, withMap, without } from "../api/conversion.ts";

const PROGRESSIVE_CREATE_ANNOTATION = "daemonset.kruise.io/progressive-create-pod";

export function toStorage(object: JsonObject): JsonObject {
  const annotations = objectAt(objectAt(object, "metadata"), "annotations");
  const beta = changeObject({ ...object, apiVersion: "apps.kruise.io/v1beta1" }, "spec", (spec) => ({
    ...changeObject(spec, "updateStrategy", (strategy) =>
      changeObject(strategy, "rollingUpdate", (rolling) =>
        rolling["rollingUpdateType"] === "Surging" ? { ...rolling, rollingUpdateType: "Standard" } : rolling,
      ),
    ),
    ...defined({
      scaleStrategy: annotations[PROGRESSIVE_CREATE_ANNOTATION] === "true" ? { partitionedScaling: true } : undefined,
    }),
  }));
  return changeObject(beta, "status", (status) => renamed(status, "daemonSetHash", "updateRevision"));
}

export function fromStorage(object: JsonObject): JsonObject {
  const isProgressive = objectAt(objectAt(object, "spec"), "scaleStrategy")["partitionedScaling"] === true;
  const annotated = isProgressive
    ? withMap(object, "annotations", { [PROGRESSIVE_CREATE_ANNOTATION]: "true" })
    : object;
  const alpha = changeObject({ ...annotated, apiVersion: "apps.kruise.io/v1alpha1" }, "spec", (spec) =>
    without(spec, "scaleStrategy"),
  );
  return changeObject(alpha, "status", (status) => renamed(status, "updateRevision", "daemonSetHash"));
}
