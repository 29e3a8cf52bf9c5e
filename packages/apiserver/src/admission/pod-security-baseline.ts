/** The baseline level of Pod Security: prevents known privilege escalations. By the names of the checks. */
import { SECCOMP_POD_ANNOTATION } from "@flotilla/kubernetes";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import {
  containersText,
  namesWhere,
  plural,
  quoted,
  settersText,
  sorted,
  unlessUserNamespace,
} from "./pod-security-check.ts";
import type { Check, ExaminedPod, Rule, Violation } from "./pod-security-check.ts";

type ReadContainer = DeepReadonly<Container>;
type SELinuxOptions = NonNullable<NonNullable<ReadContainer["securityContext"]>["seLinuxOptions"]>;

const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const isAllowedAppArmor = (type: string | undefined): boolean => type === "RuntimeDefault" || type === "Localhost";
const isAllowedAnnotation = (profile: string): boolean =>
  profile === "" || profile === "runtime/default" || profile.startsWith("localhost/");

function appArmorProfile(pod: ExaminedPod): Violation | undefined {
  const own = pod.spec.securityContext?.appArmorProfile;
  const isBad = (profile: { readonly type?: string } | undefined): boolean =>
    profile !== undefined && !isAllowedAppArmor(profile.type);
  const names = namesWhere(pod, ({ securityContext }) => isBad(securityContext?.appArmorProfile));
  const annotations = sorted(
    Object.entries(pod.annotations)
      .filter(([key, value]) => key.startsWith(APP_ARMOR) && !isAllowedAnnotation(value))
      .map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  );
  const setters = settersText(isBad(own), names);
  if (setters === "" && annotations.length === 0) return undefined;
  const types = [own, ...pod.containers.map(({ securityContext }) => securityContext?.appArmorProfile)]
    .filter(isBad)
    .map((profile) => profile?.type ?? "");
  const values = [...sorted(types), ...annotations];
  const who = [
    ...(setters === "" ? [] : [setters]),
    ...(annotations.length > 0 ? [plural("annotation", annotations.length)] : []),
  ].join(" and ");
  return {
    reason: plural("forbidden AppArmor profile", values.length),
    detail: `${who} must not set AppArmor profile type to ${quoted(values)}`,
  };
}

const DEFAULT_CAPABILITIES = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
);

function capabilities(pod: ExaminedPod): Violation | undefined {
  const extra = ({ securityContext }: ReadContainer): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !DEFAULT_CAPABILITIES.has(name));
  const names = namesWhere(pod, (container) => extra(container).length > 0);
  if (names.length === 0) return undefined;
  return {
    reason: "non-default capabilities",
    detail: `${containersText(names)} must not include ${quoted(sorted(pod.containers.flatMap(extra)))} in securityContext.capabilities.add`,
  };
}

function hostNamespaces({ spec }: ExaminedPod): Violation | undefined {
  const used = (["hostNetwork", "hostPID", "hostIPC"] as const)
    .filter((field) => spec[field])
    .map((field) => `${field}=true`);
  return used.length > 0 ? { reason: "host namespaces", detail: used.join(", ") } : undefined;
}

function hostPathVolumes({ spec }: ExaminedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  return names.length > 0
    ? { reason: "hostPath volumes", detail: `${plural("volume", names.length)} ${quoted(names)}` }
    : undefined;
}

function hostPorts(pod: ExaminedPod): Violation | undefined {
  const used = ({ ports = [] }: ReadContainer): string[] =>
    ports.filter(({ hostPort }) => hostPort).map(({ hostPort }) => String(hostPort));
  const names = namesWhere(pod, (container) => used(container).length > 0);
  if (names.length === 0) return undefined;
  const ports = sorted(pod.containers.flatMap(used));
  return {
    reason: "hostPort",
    detail: `${containersText(names)} ${plural("uses", names.length, "use")} ${plural("hostPort", ports.length)} ${ports.join(", ")}`,
  };
}

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: ReadContainer): string[] {
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host ?? "", handler?.tcpSocket?.host ?? ""])
    .filter((host) => host !== "");
}

function hostProbes(pod: ExaminedPod): Violation | undefined {
  const names = sorted(namesWhere(pod, (container) => hostsOf(container).length > 0));
  if (names.length === 0) return undefined;
  const hosts = sorted(pod.containers.flatMap(hostsOf));
  return {
    reason: "probe or lifecycle host",
    detail: `${containersText(names)} ${plural("uses", names.length, "use")} ${plural("probe or lifecycle host", hosts.length)} ${quoted(hosts)}`,
  };
}

function privileged(pod: ExaminedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.privileged === true);
  return names.length > 0
    ? { reason: "privileged", detail: `${containersText(names)} must not set securityContext.privileged=true` }
    : undefined;
}

export function procMount(pod: ExaminedPod): Violation | undefined {
  const other = ({ securityContext }: ReadContainer): string[] =>
    securityContext?.procMount === undefined || securityContext.procMount === "Default"
      ? []
      : [securityContext.procMount];
  const names = namesWhere(pod, (container) => other(container).length > 0);
  if (names.length === 0) return undefined;
  return {
    reason: "procMount",
    detail: `${containersText(names)} must not set securityContext.procMount to ${quoted(sorted(pod.containers.flatMap(other)))}`,
  };
}

const SELINUX_TYPES = ["", "container_t", "container_init_t", "container_kvm_t"];

function seLinuxOptions(allowed: ReadonlySet<string>): Rule {
  const isBad = (options: SELinuxOptions | undefined): boolean =>
    options !== undefined && (!allowed.has(options.type ?? "") || Boolean(options.user) || Boolean(options.role));
  return (pod) => {
    const own = pod.spec.securityContext?.seLinuxOptions;
    const setters = settersText(
      isBad(own),
      namesWhere(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions)),
    );
    if (setters === "") return undefined;
    const all = [own, ...pod.containers.map(({ securityContext }) => securityContext?.seLinuxOptions)].filter(
      (options) => options !== undefined,
    );
    const types = sorted(all.map(({ type = "" }) => type).filter((type) => !allowed.has(type)));
    const wrong = [
      ...(types.length > 0 ? [`${plural("type", types.length)} ${quoted(types)}`] : []),
      ...(all.some(({ user }) => user) ? ["user may not be set"] : []),
      ...(all.some(({ role }) => role) ? ["role may not be set"] : []),
    ];
    return {
      reason: "seLinuxOptions",
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${wrong.join("; ")}`,
    };
  };
}

const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";

/** Before 1.19, profiles were annotations. */
function seccompAnnotations({ annotations, containers }: ExaminedPod): Violation | undefined {
  const isAllowed = (value: string): boolean =>
    value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/");
  const keys = [SECCOMP_POD_ANNOTATION, ...containers.map(({ name }) => `${SECCOMP_CONTAINER}${name}`)];
  const bad = sorted(
    keys
      .filter((key) => Object.hasOwn(annotations, key) && !isAllowed(annotations[key] ?? ""))
      .map((key) => `${key}=${JSON.stringify(annotations[key])}`),
  );
  return bad.length > 0
    ? { reason: "seccompProfile", detail: `forbidden ${plural("annotation", bad.length)} ${bad.join(", ")}` }
    : undefined;
}

/** Rejects profiles that are set to a forbidden type. */
export function seccompProfiles(pod: ExaminedPod): Violation | undefined {
  const isBad = (profile: { readonly type?: string } | undefined): boolean =>
    profile !== undefined && profile.type !== "Localhost" && profile.type !== "RuntimeDefault";
  const own = pod.spec.securityContext?.seccompProfile;
  const setters = settersText(
    isBad(own),
    namesWhere(pod, ({ securityContext }) => isBad(securityContext?.seccompProfile)),
  );
  if (setters === "") return undefined;
  const types = [own, ...pod.containers.map(({ securityContext }) => securityContext?.seccompProfile)]
    .filter(isBad)
    .map((profile) => profile?.type ?? "");
  return {
    reason: "seccompProfile",
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`,
  };
}

const SYSCTLS = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];
const SYSCTLS_27 = [...SYSCTLS, "net.ipv4.ip_local_reserved_ports"];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
];
const SYSCTLS_32 = [...SYSCTLS_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];

function sysctls(names: readonly string[]): Rule {
  const allowed = new Set(names);
  return ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
    return bad.length > 0 ? { reason: "forbidden sysctls", detail: bad.join(", ") } : undefined;
  };
}

function windowsHostProcess(pod: ExaminedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  const setters = settersText(pod.spec.securityContext?.windowsOptions?.hostProcess === true, names);
  return setters === ""
    ? undefined
    : { reason: "hostProcess", detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
}

export const baselineChecks: readonly Check[] = [
  { id: "appArmorProfile", rules: [[0, appArmorProfile]] },
  { id: "capabilities_baseline", rules: [[0, capabilities]] },
  { id: "hostNamespaces", rules: [[0, hostNamespaces]] },
  { id: "hostPathVolumes", rules: [[0, hostPathVolumes]] },
  { id: "hostPorts", rules: [[0, hostPorts]] },
  { id: "hostProbesAndHostLifecycle", rules: [[34, hostProbes]] },
  { id: "privileged", rules: [[0, privileged]] },
  {
    id: "procMount",
    rules: [
      [0, procMount],
      [35, unlessUserNamespace(procMount)],
    ],
  },
  {
    id: "seLinuxOptions",
    rules: [
      [0, seLinuxOptions(new Set(SELINUX_TYPES))],
      [31, seLinuxOptions(new Set([...SELINUX_TYPES, "container_engine_t"]))],
    ],
  },
  {
    id: "seccompProfile_baseline",
    rules: [
      [0, seccompAnnotations],
      [19, seccompProfiles],
    ],
  },
  {
    id: "sysctls",
    rules: [
      [0, sysctls(SYSCTLS)],
      [27, sysctls(SYSCTLS_27)],
      [29, sysctls(SYSCTLS_29)],
      [32, sysctls(SYSCTLS_32)],
    ],
  },
  { id: "windowsHostProcess", rules: [[0, windowsHostProcess]] },
];
