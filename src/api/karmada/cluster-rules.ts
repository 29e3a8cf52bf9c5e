/** Defaults and rules of Cluster. */
import type { DeepReadonly } from "../../base/index.ts";
import { dnsLabelProblem, labelValueProblem, type FieldError } from "../../machinery/index.ts";
import { forbiddenField, notSupportedYet, twice, wrong } from "../field-errors.ts";
import { change, fill } from "../fill.ts";
import type { Cluster } from "../facts/cluster-karmada-v1alpha1.ts";

/** Names of members become parts of namespaces and of other names. */
const MAX_NAME = 48;
const PROXY_SCHEMES = ["http:", "https:", "socks5:"];

/** `zone` is the old name of the first of `zones`. */
export function completeCluster(cluster: DeepReadonly<Cluster>): DeepReadonly<Cluster> {
  return change(cluster, "spec", (spec) => (spec.zone ? fill(spec, { zones: [spec.zone] }) : spec));
}

export function checkCluster({ metadata, spec }: DeepReadonly<Cluster>): FieldError[] {
  const errors: FieldError[] = [];
  const nameProblem = metadata.name.length > MAX_NAME ? `must be no more than ${MAX_NAME} characters` : dnsLabelProblem(metadata.name);
  if (nameProblem) errors.push(wrong("metadata.name", metadata.name, nameProblem));
  if (spec.apiEndpoint && !URL.canParse(spec.apiEndpoint)) errors.push(wrong("spec.apiEndpoint", spec.apiEndpoint, "must be a URL"));
  if (spec.proxyURL && !(URL.canParse(spec.proxyURL) && PROXY_SCHEMES.includes(new URL(spec.proxyURL).protocol))) {
    errors.push(wrong("spec.proxyURL", spec.proxyURL, "must be a URL with the scheme http, https or socks5"));
  }
  for (const field of ["provider", "region"] as const) {
    const problem = labelValueProblem(spec[field] ?? "");
    if (problem) errors.push(wrong(`spec.${field}`, spec[field], problem));
  }
  if (spec.zone && (spec.zones?.length !== 1 || spec.zones[0] !== spec.zone)) errors.push(forbiddenField("spec.zone", "deprecated; state it in zones alone"));
  const taints = new Set<string>();
  for (const [index, { key, effect }] of (spec.taints ?? []).entries()) {
    const taint = JSON.stringify({ key, effect });
    if (taints.has(taint)) errors.push(twice(`spec.taints[${index}]`, { key, effect }));
    taints.add(taint);
  }
  if (spec.syncMode === "Pull") errors.push(notSupportedYet("spec.syncMode: Pull"));
  if ((spec.resourceModels?.length ?? 0) > 0) errors.push(notSupportedYet("spec.resourceModels"));
  return errors;
}
