/** The restricted level of Pod Security: best practices in addition to the baseline. By the names of the checks. */
import type { Container, Volume } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { procMount, seccompProfiles } from "./pod-security-baseline.ts";
import {
  containersText,
  namesWhere,
  plural,
  quoted,
  settersText,
  sorted,
  unlessUserNamespace,
  unlessWindows,
} from "./pod-security-check.ts";
import type { Check, ExaminedPod, Violation } from "./pod-security-check.ts";

function allowPrivilegeEscalation(pod: ExaminedPod): Violation | undefined {
  const names = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  return names.length > 0
    ? {
        reason: "allowPrivilegeEscalation != false",
        detail: `${containersText(names)} must set securityContext.allowPrivilegeEscalation=false`,
      }
    : undefined;
}

function capabilities(pod: ExaminedPod): Violation | undefined {
  const extra = ({ securityContext }: DeepReadonly<Container>): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== "NET_BIND_SERVICE");
  const keeping = namesWhere(pod, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes("ALL"));
  const adding = namesWhere(pod, (container) => extra(container).length > 0);
  const details = [
    ...(keeping.length > 0 ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [
          `${containersText(adding)} must not include ${quoted(sorted(pod.containers.flatMap(extra)))} in securityContext.capabilities.add`,
        ]
      : []),
  ];
  return details.length > 0 ? { reason: "unrestricted capabilities", detail: details.join("; ") } : undefined;
}

const ALLOWED_VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
] as const;
const OTHER_VOLUMES = (
  "hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder " +
  "cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume " +
  "scaleIO storageos"
).split(" ");

function restrictedVolumes({ spec }: ExaminedPod): Violation | undefined {
  const bad = (spec.volumes ?? []).filter((volume) => !ALLOWED_VOLUMES.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const typeOf = (volume: DeepReadonly<Volume>): string =>
    OTHER_VOLUMES.find((type) => Object.hasOwn(volume, type)) ?? "unknown";
  const types = sorted(bad.map(typeOf));
  return {
    reason: "restricted volume types",
    detail:
      `${plural("volume", bad.length)} ${quoted(bad.map(({ name }) => name))} ` +
      `${plural("uses", bad.length, "use")} ${plural("restricted volume type", types.length)} ${quoted(types)}`,
  };
}

function runAsNonRoot(pod: ExaminedPod): Violation | undefined {
  const reason = "runAsNonRoot != true";
  const own = pod.spec.securityContext?.runAsNonRoot;
  const setters = settersText(
    own === false,
    namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  );
  if (setters !== "") return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  const silent = own ? [] : namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  return silent.length > 0
    ? { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` }
    : undefined;
}

function runAsUser(pod: ExaminedPod): Violation | undefined {
  const setters = settersText(
    pod.spec.securityContext?.runAsUser === 0,
    namesWhere(pod, ({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return setters === "" ? undefined : { reason: "runAsUser=0", detail: `${setters} must not set runAsUser=0` };
}

function seccompProfile(pod: ExaminedPod): Violation | undefined {
  const stated = seccompProfiles(pod);
  if (stated || pod.spec.securityContext?.seccompProfile) return stated;
  const silent = namesWhere(pod, ({ securityContext }) => !securityContext?.seccompProfile);
  return silent.length > 0
    ? {
        reason: "seccompProfile",
        detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      }
    : undefined;
}

export const restrictedChecks: readonly Check[] = [
  {
    id: "allowPrivilegeEscalation",
    rules: [
      [8, allowPrivilegeEscalation],
      [25, unlessWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    id: "capabilities_restricted",
    overrides: "capabilities_baseline",
    rules: [
      [22, capabilities],
      [25, unlessWindows(capabilities)],
    ],
  },
  { id: "procMount_restricted", overrides: "procMount", rules: [[35, procMount]] },
  { id: "restrictedVolumes", overrides: "hostPathVolumes", rules: [[0, restrictedVolumes]] },
  {
    id: "runAsNonRoot",
    rules: [
      [0, runAsNonRoot],
      [35, unlessUserNamespace(runAsNonRoot)],
    ],
  },
  {
    id: "runAsUser",
    rules: [
      [23, runAsUser],
      [35, unlessUserNamespace(runAsUser)],
    ],
  },
  {
    id: "seccompProfile_restricted",
    overrides: "seccompProfile_baseline",
    rules: [
      [19, seccompProfile],
      [25, unlessWindows(seccompProfile)],
    ],
  },
];
