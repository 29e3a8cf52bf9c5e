/**
 * What Kubernetes fills in for pods and pod templates, where the fact tables state no default. Workloads of other projects
 * use the same rules for their templates.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { change, changeItems, fill } from "../fill.ts";
import type { Container, EnvVar, HTTPGetAction, LifecycleHandler, PodSpec, PodTemplateSpec, Probe, Volume, VolumeProjection } from "../facts/core-v1.ts";

type Read<T> = DeepReadonly<T>;
type PullPolicy = NonNullable<Container["imagePullPolicy"]>;

/** 0644, the mode of files from ConfigMaps and Secrets. */
const FILE_MODE = 0o644;

/** An image without a tag, or with the tag `latest`, may change at any time. */
export function pullPolicyOf(image: string): PullPolicy {
  const name = image.slice(image.lastIndexOf("/") + 1);
  if (name.includes("@")) return "IfNotPresent";
  const tag = name.includes(":") ? name.slice(name.lastIndexOf(":") + 1) : "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
}

/** `pullPolicy` is for projects that do not look at the tag. */
interface TemplateOptions {
  pullPolicy?: PullPolicy;
}

export function defaultPodTemplate(template: Read<PodTemplateSpec>, options?: TemplateOptions): Read<PodTemplateSpec> {
  return change(template, "spec", (spec) => defaultPodSpec(spec, options));
}

export function defaultPodSpec(spec: Read<PodSpec>, { pullPolicy }: TemplateOptions = {}): Read<PodSpec> {
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  let result: Read<PodSpec> = fill(spec, {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    securityContext: {},
    schedulerName: "default-scheduler",
    // The old name of the field is still written beside the new one.
    ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
  });
  const hostNetwork = spec.hostNetwork === true;
  result = change(result, "containers", (list) =>
    changeItems<Container>(list, (item) => defaultContainer(pullPolicy ? fill(item, { imagePullPolicy: pullPolicy }) : item, hostNetwork)),
  );
  result = change(result, "initContainers", (list) => changeItems<Container>(list, (item) => defaultContainer(item, hostNetwork)));
  return change(result, "volumes", (list) => changeItems<Volume>(list, defaultVolume));
}

function defaultContainer(container: Read<Container>, hostNetwork: boolean): Read<Container> {
  let result: Read<Container> = fill(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicyOf(container.image ?? ""),
  });
  result = change(result, "ports", (ports) =>
    changeItems<NonNullable<Container["ports"]>[number]>(ports, (port) => fill(port, { protocol: "TCP", ...(hostNetwork && { hostPort: port.containerPort }) })),
  );
  result = change(result, "env", (list) => changeItems<EnvVar>(list, defaultVariable));
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"] as const) result = change(result, probe, defaultProbe);
  return change(result, "lifecycle", (lifecycle) => change(change(lifecycle, "postStart", defaultHandler), "preStop", defaultHandler));
}

function defaultVariable(variable: Read<EnvVar>): Read<EnvVar> {
  return change(variable, "valueFrom", (source) => change(source, "fieldRef", (ref) => fill(ref, { apiVersion: "v1" })));
}

function defaultProbe(probe: Read<Probe>): Read<Probe> {
  const result: Read<Probe> = fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  return change(change(result, "httpGet", defaultHttpGet), "grpc", (grpc) => fill(grpc, { service: "" }));
}

const defaultHandler = (handler: Read<LifecycleHandler>): Read<LifecycleHandler> => change(handler, "httpGet", defaultHttpGet);
const defaultHttpGet = (action: Read<HTTPGetAction>): Read<HTTPGetAction> => fill(action, { path: "/", scheme: "HTTP" });

function defaultVolume(volume: Read<Volume>): Read<Volume> {
  let result: Read<Volume> = Object.keys(volume).some((key) => key !== "name") ? volume : { ...volume, emptyDir: {} };
  result = change(result, "secret", (source) => fill(source, { defaultMode: FILE_MODE }));
  result = change(result, "configMap", (source) => fill(source, { defaultMode: FILE_MODE }));
  result = change(result, "downwardAPI", (source) => change(fill(source, { defaultMode: FILE_MODE }), "items", defaultDownward));
  result = change(result, "projected", (source) => change(fill(source, { defaultMode: FILE_MODE }), "sources", (list) => changeItems<VolumeProjection>(list, defaultProjection)));
  result = change(result, "image", (source) => fill(source, { pullPolicy: pullPolicyOf(source.reference ?? "") }));
  result = change(result, "ephemeral", (source) => change(source, "volumeClaimTemplate", (template) => change(template, "spec", (claim) => fill(claim, { volumeMode: "Filesystem" }))));
  return change(result, "hostPath", (source) => fill(source, { type: "" }));
}

function defaultProjection(projection: Read<VolumeProjection>): Read<VolumeProjection> {
  const result = change(projection, "serviceAccountToken", (token) => fill(token, { expirationSeconds: 3600 }));
  return change(result, "downwardAPI", (source) => change(source, "items", defaultDownward));
}

type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];
const defaultDownward = (items: readonly Read<DownwardFile>[]): readonly Read<DownwardFile>[] =>
  changeItems<DownwardFile>(items, (item) => change(item, "fieldRef", (ref) => fill(ref, { apiVersion: "v1" })));
