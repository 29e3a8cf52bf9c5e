/**
 * Expands short forms of OpenKruise's kinds in manifests for members: the hub accepts them, members reject them.
 * Defaults are left to the member.
 */
import { HUB } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import { change } from "@flotilla/apimachinery";
import { inAlphaForm, type AlphaStrategy } from "./clone-set-rules.ts";
import type { CloneSet } from "./clone-set-types.ts";
import { withOwnVersion } from "./sidecar-set-defaults.ts";
import type { SidecarSet } from "./sidecar-set-types.ts";
import { completeSelector } from "./template-rules.ts";
import { labelsOf, expandShortForms } from "./united-deployment-defaults.ts";
import type { UnitedDeployment } from "./united-deployment-types.ts";
type Read<T> = DeepReadonly<T>;
type Warn = (text: string) => void;

const ALPHA = "apps.kruise.io/v1alpha1";
const VERSIONS: readonly unknown[] = [ALPHA, "apps.kruise.io/v1beta1"];

/** Returns the same manifest when it has no short forms. */
export function expandShorthand(manifest: Read<JsonObject>, warn: Warn): Read<JsonObject> {
  const { apiVersion, kind, metadata, spec } = manifest;
  if (!VERSIONS.includes(apiVersion) || !isObject(metadata) || !isObject(spec)) return manifest;
  switch (kind) {
    case "CloneSet":
      return cloneSet(manifest as unknown as Read<CloneSet>, warn);
    case "StatefulSet":
    case "DaemonSet":
      return withSelector(manifest as unknown as Read<CloneSet>, warn);
    case "UnitedDeployment":
      return unitedDeployment(manifest as unknown as Read<UnitedDeployment>, warn);
    case "SidecarSet":
      return withOwnVersion(manifest as unknown as Read<SidecarSet>, { warn });
    default:
      return manifest;
  }
}

function withSelector(workload: Read<CloneSet>, warn: Warn): Read<CloneSet> {
  return change(workload, "spec", (spec) =>
    completeSelector(spec, spec.template?.metadata?.labels, "spec.template.metadata.labels", { cluster: HUB, warn }),
  );
}

function cloneSet(given: Read<CloneSet>, warn: Warn): Read<CloneSet> {
  const selecting = withSelector(given, warn);
  if (given.apiVersion !== ALPHA) return selecting;
  return change(selecting, "spec", (spec) =>
    change(
      spec,
      "updateStrategy",
      (strategy) => inAlphaForm(strategy as AlphaStrategy, { cluster: HUB, warn }) as typeof strategy,
    ),
  );
}

function unitedDeployment(given: Read<UnitedDeployment>, warn: Warn): Read<UnitedDeployment> {
  return change(given, "spec", (spec) => {
    const written = expandShortForms(spec, given.apiVersion === ALPHA, warn);
    return completeSelector(written, labelsOf(written.template), "the labels of the template", { cluster: HUB, warn });
  });
}
