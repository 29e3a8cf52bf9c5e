/** Validation of PodProbeMarker, as in OpenKruise's webhook. */
import { checkLabels, checkSelector, checkText, field, labelKeyProblems } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import { checkAnnotationKeys, checkProbeHandler } from "@flotilla/kubernetes";
import type { FeatureGates } from "../api/feature-gates.ts";
import { requireGate } from "../api/plain-rejection.ts";
import { isEmptySelector } from "../api/template-rules.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { PodProbeMarker } from "./podprobemarker-kind.ts";
import type { ReadonlyMarker } from "./podprobemarker-kind.ts";

type Probe = ReadonlyMarker["spec"]["probes"][number];
type Policy = NonNullable<Probe["markerPolicy"]>[number];

/** The conditions of Kubernetes' own; a probe cannot have such a name. */
const NATIVE_CONDITIONS = ["PodScheduled", "Initialized", "Ready", "ContainersReady"];
const NUMBERS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

function checkMarker({ object, oldObject }: Review<PodProbeMarker>): FieldError[] {
  const { selector } = object.spec;
  const errors: FieldError[] = [];
  if (!selector) errors.push(field.invalid("spec.selector", null, "empty Selector is not valid for PodProbeMarker."));
  else {
    errors.push(...checkSelector("spec.selector", selector));
    if (isEmptySelector(selector))
      errors.push(field.invalid("spec.selector", selector, "empty selector is not valid for podProbeMarker."));
  }
  checkProbeList(errors, object.spec.probes ?? []);
  if (oldObject && !equalJson(oldObject.spec.selector ?? null, selector ?? null))
    errors.push(field.invalid("selector", selector ?? null, "selector must be immutable"));
  return errors;
}

/** As in OpenKruise's webhook, most problems end the check. */
function checkProbeList(errors: FieldError[], probes: readonly Probe[]): void {
  const invalid = (value: unknown, problem: string): void =>
    void errors.push(field.invalid("spec.probes", value, problem));
  if (probes.length === 0) return invalid(probes, "empty probes is not valid for PodProbeMarker.");
  const names = new Set<string>();
  const types = new Set<string>();
  for (const probe of probes) {
    const { name, containerName, podConditionType = "", markerPolicy = [] } = probe;
    if (name.includes("#")) return invalid(name, "probe name can't contains '#'.");
    if (name === "") return invalid(name, "probe name can't be empty in PodProbeMarker.");
    if (containerName === "") return invalid(containerName, "probe containerName can't be empty in PodProbeMarker.");
    if (NATIVE_CONDITIONS.includes(name)) return invalid(name, `probe name can't be ${name}`);
    if (names.has(name)) return invalid(name, "probe name must be unique in PodProbeMarker.");
    names.add(name);
    checkProbe(errors, probe);
    if (podConditionType === "" && markerPolicy.length === 0)
      return invalid(probe, "podConditionType and markerPolicy cannot be empty at the same time");
    if (types.has(podConditionType))
      return invalid(podConditionType, `podConditionType ${podConditionType} must be unique in podProbeMarker`);
    if (podConditionType !== "") {
      types.add(podConditionType);
      errors.push(...checkText("spec", podConditionType, labelKeyProblems));
    }
    if (!checkPolicies(errors, markerPolicy)) return;
  }
}

function checkProbe(errors: FieldError[], { probe }: Probe): void {
  const { exec, httpGet, tcpSocket } = probe ?? {};
  checkProbeHandler(errors, "spec.probe", { exec, httpGet, tcpSocket }, undefined);
  for (const [name, action] of Object.entries({ httpGet, tcpSocket }))
    if (action?.host)
      errors.push(field.invalid(`spec.probe.${name}.host`, action.host, "host field in probes is not allowed"));
  for (const name of NUMBERS)
    if ((probe?.[name] ?? 0) < 0)
      errors.push(field.invalid(`spec.probe.${name}`, probe[name], "must be greater than or equal to 0"));
}

/** False if the check ends here. */
function checkPolicies(errors: FieldError[], policies: readonly Policy[]): boolean {
  const at = "spec.markerPolicy";
  const states = new Set<string>();
  for (const { state, labels, annotations } of policies) {
    if (states.has(state)) {
      errors.push(field.invalid(at, state, "marker policy state must be unique."));
      return false;
    }
    states.add(state);
    if (state !== "Succeeded" && state !== "Failed")
      errors.push(field.required(`${at}.state`, "marker policy state must be 'True' or 'False'"));
    else if (Object.keys({ ...labels, ...annotations }).length === 0)
      errors.push(field.required(at, "marker policy annotations or labels can't be both empty"));
    else {
      errors.push(...checkLabels(`${at}.labels`, labels));
      checkAnnotationKeys(errors, `${at}.annotations`, annotations);
    }
  }
  return true;
}

export const podProbeMarkerRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(PodProbeMarker, {
    name: "podprobemarker",
    code: 400,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    check(review) {
      // The hub only propagates it; each member has its own gates.
      if (!isHub(review)) requireGate("vpodprobemarker.kb.io", gates, "PodProbeMarkerGate");
      return checkMarker(review);
    },
  }),
];
