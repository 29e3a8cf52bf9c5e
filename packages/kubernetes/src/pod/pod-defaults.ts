/**
 * Defaults of pods and pod templates that the fact tables do not define. Workloads of other projects use the same rules
 * for their templates.
 */
import { skipUnchanged, omitEmpty } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { change, changeItems, fill, formatQuantity } from "@flotilla/apimachinery";
import type {
  Container,
  ContainerPort,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  LifecycleHandler,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceRequirements,
  Volume,
  VolumeProjection,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { pullPolicyOf } from "./pull-policy.ts";
import { containerTotals, isPodLevelResource } from "./pod-resources.ts";
import { hasSource } from "./pod-volumes.ts";
import { mayBeOvercommitted, roundAmounts } from "../resources/resource-names.ts";

type Read<T> = DeepReadonly<T>;
type Template = Read<PodTemplateSpec>;
type PullPolicy = NonNullable<Container["imagePullPolicy"]>;

/** 0644, the mode of files from ConfigMaps and Secrets. */
const FILE_MODE = 0o644;

interface TemplateOptions {
  /** For projects that ignore the tag. */
  pullPolicy?: PullPolicy;
  /**
   * For projects that run only the outer layer of Kubernetes' defaulting: the old service account field, gRPC probes,
   * and claims and images in volumes are not defaulted. Hashes are computed from the result.
   */
  outerLayer?: true;
}

/** Defaults a template for some options. The result is shared by a workload on the hub and on its members. */
export const templateDefaults = (options?: TemplateOptions): ((template: Template) => Template) =>
  skipUnchanged((template) => change(template, "spec", (spec) => defaultPodSpec(spec, options)));

export const defaultPodTemplate = templateDefaults();

function defaultPodSpec(spec: Read<PodSpec>, { pullPolicy, outerLayer }: TemplateOptions = {}): Read<PodSpec> {
  let result: Read<PodSpec> = fill(spec, {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  // The deprecated field is still written beside the new one, which wins.
  if (!outerLayer && account !== undefined && (spec.serviceAccountName !== account || spec.serviceAccount !== account))
    result = { ...result, serviceAccountName: account, serviceAccount: account };
  result = change(result, "containers", (list) =>
    changeItems<Container>(list, (item) =>
      defaultContainer(pullPolicy ? fill(item, { imagePullPolicy: pullPolicy }) : item, outerLayer),
    ),
  );
  result = change(result, "initContainers", (list) =>
    changeItems<Container>(list, (item) => defaultContainer(item, outerLayer)),
  );
  result = change(result, "ephemeralContainers", (list) =>
    changeItems<EphemeralContainer>(list, (item) => defaultContainer(item, outerLayer)),
  );
  result = change(result, "overhead", roundAmounts);
  result = change(result, "resources", roundResources);
  return change(result, "volumes", (list) => changeItems<Volume>(list, (item) => defaultVolume(item, outerLayer)));
}

const roundResources = (resources: Read<ResourceRequirements>): Read<ResourceRequirements> =>
  change(change(resources, "limits", roundAmounts), "requests", roundAmounts);

export function defaultContainer<T extends Read<Container>>(container: T, outerLayer?: true): T {
  let result: Read<Container> = container;
  if (!container.imagePullPolicy || !container.terminationMessagePath || !container.terminationMessagePolicy) {
    result = fill(container as Read<Container>, {
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: container.imagePullPolicy ?? pullPolicyOf(container.image ?? ""),
    });
  }
  result = change(result, "ports", (ports) =>
    changeItems<ContainerPort>(ports, (port) => fill(port, { protocol: "TCP" })),
  );
  result = change(result, "env", (list) => changeItems<EnvVar>(list, defaultVariable));
  result = change(result, "resources", roundResources);
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"] as const)
    result = change(result, probe, (value) => defaultProbe(value, outerLayer));
  result = change(result, "lifecycle", (lifecycle) =>
    change(change(lifecycle, "postStart", defaultHandler), "preStop", defaultHandler),
  );
  return (result.lifecycle?.stopSignal === undefined ? result : withoutStopSignal(result)) as T;
}

/**
 * Belongs to a feature gate that is off by default: the field is known and dropped, together with the hooks when it was
 * their only field.
 */
function withoutStopSignal({ lifecycle, ...container }: Read<Container>): Read<Container> {
  const { stopSignal: _, ...hooks } = lifecycle ?? {};
  return Object.keys(hooks).length === 0 ? container : { ...container, lifecycle: hooks };
}

function defaultVariable(variable: Read<EnvVar>): Read<EnvVar> {
  return variable.valueFrom
    ? change(variable, "valueFrom", (source) => change(source, "fieldRef", (ref) => fill(ref, { apiVersion: "v1" })))
    : variable;
}

function defaultProbe(probe: Read<Probe>, outerLayer: true | undefined): Read<Probe> {
  const result: Read<Probe> = fill(probe, {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  const settled = change(result, "httpGet", defaultHttpGet);
  return outerLayer ? settled : change(settled, "grpc", (grpc) => fill(grpc, { service: "" }));
}

const defaultHandler = (handler: Read<LifecycleHandler>): Read<LifecycleHandler> =>
  change(handler, "httpGet", defaultHttpGet);
const defaultHttpGet = (action: Read<HTTPGetAction>): Read<HTTPGetAction> =>
  fill(action, { path: "/", scheme: "HTTP" });

export function defaultVolume(volume: Read<Volume>, outerLayer?: true): Read<Volume> {
  let result: Read<Volume> = hasSource(volume) ? volume : { ...volume, emptyDir: {} };
  result = change(result, "secret", (source) => fill(source, { defaultMode: FILE_MODE }));
  result = change(result, "configMap", (source) => fill(source, { defaultMode: FILE_MODE }));
  result = change(result, "downwardAPI", (source) =>
    change(fill(source, { defaultMode: FILE_MODE }), "items", defaultDownward),
  );
  result = change(result, "projected", (source) =>
    change(fill(source, { defaultMode: FILE_MODE }), "sources", (list) =>
      changeItems<VolumeProjection>(list, defaultProjection),
    ),
  );
  result = change(result, "hostPath", (source) => fill(source, { type: "" }));
  if (outerLayer) return result;
  result = change(result, "image", (source) => fill(source, { pullPolicy: pullPolicyOf(source.reference ?? "") }));
  return change(result, "ephemeral", (source) =>
    change(source, "volumeClaimTemplate", (template) =>
      change(template, "spec", (claim) => fill(claim, { volumeMode: "Filesystem" })),
    ),
  );
}

function defaultProjection(projection: Read<VolumeProjection>): Read<VolumeProjection> {
  let result = change(projection, "serviceAccountToken", (token) => fill(token, { expirationSeconds: 3600 }));
  // Two sources whose feature gates are off by default.
  if (result.clusterTrustBundle || result.podCertificate) {
    const { clusterTrustBundle: _, podCertificate: __, ...rest } = result;
    result = rest;
  }
  return change(result, "downwardAPI", (source) => change(source, "items", defaultDownward));
}

type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];
const defaultDownward = (items: readonly Read<DownwardFile>[]): readonly Read<DownwardFile>[] =>
  changeItems<DownwardFile>(items, (item) => change(item, "fieldRef", (ref) => fill(ref, { apiVersion: "v1" })));

/** Defaults that apply to pods but not to templates, such as container requests. */
export function completePod(pod: Read<Pod>): Read<Pod> {
  return change(pod, "spec", (given) => {
    let spec: Read<PodSpec> = defaultPodSpec(given);
    spec = change(spec, "containers", (list) => changeItems<Container>(list, withRequests));
    spec = change(spec, "initContainers", (list) => changeItems<Container>(list, withRequests));
    if (spec.resources) spec = withPodResources(spec);
    if (spec.hostNetwork) {
      spec = change(spec, "containers", (list) => changeItems<Container>(list, withHostPorts));
      spec = change(spec, "initContainers", (list) => changeItems<Container>(list, withHostPorts));
    }
    if (spec.schedulingGroup) {
      // Belongs to a feature gate that is off by default.
      const { schedulingGroup: _, ...rest } = spec;
      spec = rest;
    }
    // A negative period means one second; templates keep it as written.
    if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec = { ...spec, terminationGracePeriodSeconds: 1 };
    return fill(spec, { enableServiceLinks: true });
  });
}

/** Requests default to the limits. */
function withRequests(container: Read<Container>): Read<Container> {
  const limits = container.resources?.limits;
  if (!limits) return container;
  const requests = fill(container.resources?.requests ?? {}, limits);
  return requests === container.resources?.requests
    ? container
    : { ...container, resources: { ...container.resources, requests } };
}

const withHostPorts = (container: Read<Container>): Read<Container> =>
  change(container, "ports", (ports) =>
    changeItems<ContainerPort>(ports, (port) =>
      port.containerPort ? fill(port, { hostPort: port.containerPort }) : port,
    ),
  );

/** Pod-level requests default from the containers, and then from the pod-level limits. */
function withPodResources(spec: Read<PodSpec>): Read<PodSpec> {
  const { limits = {}, requests = {} } = spec.resources ?? {};
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return spec;
  const allLimits: Record<string, string | number> = { ...limits };
  for (const [name, total] of Object.entries(containerTotals(spec, "limits"))) {
    if (name.startsWith("hugepages-") && requests[name] === undefined) allLimits[name] ??= formatQuantity(total);
  }
  const allRequests: Record<string, string | number> = { ...requests };
  if (Object.keys(allLimits).length > 0) {
    for (const [name, total] of Object.entries(containerTotals(spec, "requests")))
      if (isPodLevelResource(name) && mayBeOvercommitted(name)) allRequests[name] ??= formatQuantity(total);
    for (const [name, limit] of Object.entries(allLimits)) if (isPodLevelResource(name)) allRequests[name] ??= limit;
  }
  return {
    ...spec,
    resources: {
      ...spec.resources,
      ...omitEmpty({ limits: allLimits, requests: allRequests }),
    },
  };
}
