/** Defaults and validation of Cluster, as in Karmada's aggregated API server. */
import { omitZero } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  checkText,
  dnsLabelProblems,
  field,
  labelKeyProblems,
  labelValueProblems,
  parseGoUrl,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { Taint } from "@flotilla/apimachinery/facts/core-v1.ts";
import { Cluster } from "./cluster-kind.ts";
import { checkModels, DEFAULT_MODELS, standardModels } from "./resource-models.ts";

type Spec = Sent<Cluster["spec"]>;
type SecretReference = NonNullable<Spec["secretRef"]>;

/** Member names become parts of namespaces and other names. */
const MAX_NAME = 48;
const SYNC_MODES = ["Pull", "Push"];
const PROXY_SCHEMES = ["http", "https", "socks5"];

export const clusterRules: readonly AnyAdmission[] = [
  builtInAdmission(Cluster, "cluster-karmada-v1alpha1", {
    prepare: prepareCluster,
    validate: ({ object }) => checkCluster(object),
  }),
];

/** Why no Cluster can have this name; undefined if one can. */
export function clusterNameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME) return `must be no more than ${MAX_NAME} characters`;
  return dnsLabelProblems(name)[0];
}

/** Sorts models and sets the defaults of a new Cluster; moves the deprecated `zone` to `zones`. */
function prepareCluster(cluster: DeepReadonly<Cluster>, { operation }: Review<Cluster>): DeepReadonly<Cluster> {
  const { spec } = cluster;
  const { resourceModels = [], zone, zones = [] } = spec;
  const models =
    resourceModels.length > 0 ? standardModels(resourceModels) : operation === "CREATE" ? DEFAULT_MODELS : undefined;
  // Invalid values stay in their field, so validation names it.
  const moves = zone && zones.length === 0 && labelValueProblems(zone).length === 0;
  if ((models === undefined || models === spec.resourceModels) && !moves) return cluster;
  const { zone: _old, ...rest } = spec;
  return {
    ...cluster,
    spec: { ...(moves ? { ...rest, zones: [zone] } : spec), ...omitZero({ resourceModels: models }) },
  };
}

function checkCluster({ metadata: { name }, spec }: DeepReadonly<Cluster>): FieldError[] {
  return [
    ...(name.length > MAX_NAME
      ? [field.invalid("metadata.name", name, `must be no more than ${MAX_NAME} characters`)]
      : []),
    ...checkSpec(spec),
  ];
}

function checkSpec(spec: Spec): FieldError[] {
  const {
    syncMode = "",
    apiEndpoint,
    secretRef,
    impersonatorSecretRef,
    proxyURL,
    taints = [],
    resourceModels = [],
  } = spec;
  return [
    ...(syncMode === "" ? [field.required("spec.syncMode")] : []),
    ...(SYNC_MODES.includes(syncMode) ? [] : [field.notSupported("spec.syncMode", syncMode, SYNC_MODES)]),
    ...(apiEndpoint ? checkEndpoint("spec.apiEndpoint", apiEndpoint) : []),
    ...(secretRef ? checkReference("spec.secretRef", secretRef) : []),
    ...(impersonatorSecretRef ? checkReference("spec.impersonatorSecretRef", impersonatorSecretRef) : []),
    ...(proxyURL ? checkProxy("spec.proxyURL", proxyURL) : []),
    ...checkPlaces(spec),
    ...checkTaints("spec.taints", taints),
    ...checkModels(
      "spec.resourceModels",
      resourceModels as NonNullable<DeepReadonly<Cluster["spec"]>["resourceModels"]>,
    ),
  ];
}

function checkReference(at: string, { namespace, name }: SecretReference): FieldError[] {
  return [...(namespace ? [] : [field.required(`${at}.namespace`)]), ...(name ? [] : [field.required(`${at}.name`)])];
}

const ENDPOINT_FORM = "; desired format: hostname, hostname:port, IP or IP:port";

function checkEndpoint(path: string, text: string): FieldError[] {
  const url = parseGoUrl(text);
  if ("problem" in url)
    return [field.invalid(path, text, `apiEndpoint must be a valid URL: ${url.problem}${ENDPOINT_FORM}`)];
  const { host, user, fragment, query } = url;
  return [
    ...(host === "" ? [field.invalid(path, host, `host must be provided${ENDPOINT_FORM}`)] : []),
    ...(user === undefined ? [] : [field.invalid(path, user, "user information is not permitted in the URL")]),
    ...(fragment === "" ? [] : [field.invalid(path, fragment, "fragments are not permitted in the URL")]),
    ...(query === "" ? [] : [field.invalid(path, query, "query parameters are not permitted in the URL")]),
  ];
}

function checkProxy(path: string, text: string): FieldError[] {
  const url = parseGoUrl(text);
  // Karmada's message names the endpoint here, too.
  if ("problem" in url) return [field.invalid(path, text, `apiEndpoint must be a valid URL: ${url.problem}`)];
  return PROXY_SCHEMES.includes(url.scheme)
    ? []
    : [field.invalid(path, text, `unsupported scheme ${JSON.stringify(url.scheme)}, must be http, https, or socks5`)];
}

/** Values that affinities select by must be valid label values. The field names are Karmada's, including capitals. */
function checkPlaces(spec: Spec): FieldError[] {
  const { provider = "", region = "", zone = "", zones = [] } = spec;
  const errors = [...checkPlace("spec.provider", provider), ...checkPlace("spec.region", region)];
  if (zone !== "" && zones.length > 0)
    return [...errors, field.typeInvalid("spec.spec", { zone, zones }, "Zone and Zones cannot co-exist")];
  return [...errors, ...checkPlace("spec.Zone", zone), ...zones.flatMap((value) => checkPlace("spec.Zones", value))];
}

function checkPlace(path: string, value: string): FieldError[] {
  const problems = labelValueProblems(value);
  return problems.length === 0 ? [] : [field.invalid(path, value, problems.join("; "))];
}

const EFFECTS = ["NoSchedule", "NoExecute"];

function checkTaints(at: string, taints: readonly Sent<Taint>[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const { key = "", value = "" } = taint;
    const effect: string = taint.effect ?? "";
    const path = `${at}[${index}]`;
    const valueProblems = labelValueProblems(value);
    const errors = [
      ...checkText(`${path}.key`, key, labelKeyProblems),
      ...(valueProblems.length === 0 ? [] : [field.invalid(`${path}.value`, value, valueProblems.join(";"))]),
      ...(effect === ""
        ? [field.required(`${path}.effect`)]
        : EFFECTS.includes(effect)
          ? []
          : [field.notSupported(`${path}.effect`, effect, EFFECTS)]),
    ];
    const id = JSON.stringify([key, effect]);
    if (seen.has(id)) {
      const { message, ...again } = field.duplicate(path, taint);
      errors.push({ ...again, message: `${message}: taints must be unique by key and effect pair` });
    }
    seen.add(id);
    return errors;
  });
}
