/** Checks that OpenKruise runs on the members that use its kinds, in compatible versions. */
import type { Cluster } from "@flotilla/karmada";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { numberAt, textAt } from "../../lint/fields.ts";
import { UNREACHABLE_BY_DESIGN } from "../../health/not-checked.ts";
import { proxyPath } from "../../members/members-places.ts";
import { defineCheck, listed } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import { askRaw, objectOf } from "../raw-answers.ts";
import { counted } from "../../text-layout.ts";

export interface KruiseOnMember {
  name: string;
  /** The member serves OpenKruise kinds. */
  isServed: boolean;
  /** The kinds of OpenKruise that the member serves. */
  kinds?: readonly string[];
  /** From the manager's image; undefined when it could not be read or has no tag. */
  version?: string;
  /** Undefined when there is no manager. */
  manager?: { ready: number; wanted: number };
  /** Why it could not be read. */
  unseen?: string;
}

/** The first release whose CloneSets count updated and available pods, which status aggregation needs. */
const OLDEST = [1, 4] as const;
const MAX_APART = 2;
const DEPLOYMENT = "/apis/apps/v1/namespaces/kruise-system/deployments/kruise-controller-manager";

export const openkruiseCheck = defineCheck<readonly KruiseOnMember[]>({
  name: "openkruise",
  summary: "OpenKruise runs on the members that serve its kinds, in compatible versions",
  reports:
    "A problem if a member serves OpenKruise's kinds and its manager is missing or not ready: then its " +
    "webhooks reject pods, or workloads are stuck. A warning for versions before 1.4, and if members are " +
    "more than two minor versions apart: the same spec behaves differently there. The version is that of " +
    "the manager's image. Pull-mode members can be checked only if the hub can reach them.",
  async gather(context) {
    return Promise.all(
      (await membersIn(context)).map(async (cluster): Promise<KruiseOnMember> => {
        const { name } = cluster.metadata;
        const kinds = kruiseKindsOf(cluster);
        if (kinds.length === 0) return { name, isServed: false };
        try {
          const answer = await askRaw(context, proxyPath(name) + DEPLOYMENT);
          return answer.status === 404
            ? { name, isServed: true, kinds }
            : {
                name,
                isServed: true,
                kinds,
                ...managerOf(objectOf(`querying ${name} for OpenKruise's manager`, answer)),
              };
        } catch (error) {
          context.signal.throwIfAborted();
          return {
            name,
            isServed: true,
            unseen: cluster.spec.syncMode === "Pull" ? UNREACHABLE_BY_DESIGN : messageOf(error),
          };
        }
      }),
    );
  },
  judge(members) {
    const having = members.filter(({ isServed }) => isServed);
    const findings: DoctorFinding[] = [];
    for (const { name, manager, version, unseen } of having) {
      if (unseen !== undefined) continue;
      const look = [`kubectl --kubeconfig ${name}.kubeconfig get pods -n kruise-system`];
      if (!manager)
        findings.push({
          severity: "problem",
          about: `member ${name}`,
          seen:
            "It serves OpenKruise's kinds, and has no Deployment kruise-controller-manager in the namespace " +
            "kruise-system: unless it runs elsewhere, nothing creates their pods.",
          fix: "Install OpenKruise there, or remove its CRDs.",
          commands: [`helm install kruise openkruise/kruise --kubeconfig ${name}.kubeconfig`],
        });
      else if (manager.ready < manager.wanted)
        findings.push({
          severity: manager.ready === 0 ? "problem" : "warning",
          about: `member ${name}`,
          seen:
            `${manager.ready} of ${manager.wanted} pods of kruise-controller-manager are ` +
            `ready${manager.ready === 0 ? "; its webhooks may reject every pod" : ""}.`,
          fix: "Check its pods.",
          commands: look,
        });
      const release = releaseOf(version);
      if (release && (release[0] < OLDEST[0] || (release[0] === OLDEST[0] && release[1] < OLDEST[1])))
        findings.push({
          severity: "warning",
          about: `member ${name}`,
          seen: `OpenKruise ${version} is older than ${OLDEST.join(".")}; some counters of its status are missing.`,
          fix: "Upgrade it.",
          commands: [`helm upgrade kruise openkruise/kruise --kubeconfig ${name}.kubeconfig`],
        });
    }
    const known = having
      .flatMap(({ name, version }) => {
        const release = releaseOf(version);
        return release ? [{ name, version: version ?? "", order: release[0] * 1000 + release[1] }] : [];
      })
      .toSorted((a, b) => a.order - b.order);
    const [oldest, newest] = [known[0], known.at(-1)];
    if (oldest && newest && newest.order - oldest.order > MAX_APART)
      findings.push({
        severity: "warning",
        about: `members ${oldest.name} and ${newest.name}`,
        seen: `They run OpenKruise ${oldest.version} and ${newest.version}; defaults and feature gates differ.`,
        fix: "Upgrade the older one, and run lint to find manifests that depend on the version.",
        commands: ["flotilla lint --rule kruise-version-defaults -f FOLDER -R"],
      });
    const lacking = lackingIn(having);
    const versions = [...new Set(known.map(({ version }) => version))];
    return {
      seen:
        having.length === 0
          ? "no member has OpenKruise"
          : `${having.length} of ${counted(members.length, "member")} have ` +
            `it${versions.length > 0 ? `: ${listed(versions, 3)}` : ""}` +
            (lacking.length > 0 ? `; ${listed(lacking, 3)}` : ""),
      findings,
      unseen: having.flatMap(({ name, unseen }) => (unseen === undefined ? [] : [`OpenKruise on ${name}: ${unseen}`])),
    };
  },
});

const kruiseKindsOf = ({ status }: DeepReadonly<Cluster>): string[] => [
  ...new Set(
    status?.apiEnablements
      ?.filter(({ groupVersion }) => groupVersion.startsWith("apps.kruise.io/"))
      .flatMap(({ resources = [] }) => resources.map(({ kind }) => kind)),
  ),
];

/** Kinds that other members with the same version serve: their CustomResourceDefinitions are missing. */
function lackingIn(having: readonly KruiseOnMember[]): string[] {
  return [...Map.groupBy(having, ({ version }) => version).values()].flatMap((same) => {
    const all = new Set(same.flatMap(({ kinds = [] }) => kinds));
    return same.flatMap(({ name, kinds }) => {
      const missing = kinds ? [...all].filter((kind) => !kinds.includes(kind)) : [];
      return missing.length > 0 ? [`${name} does not serve ${listed(missing, 3)}`] : [];
    });
  });
}

function managerOf(deployment: JsonObject): Pick<KruiseOnMember, "version" | "manager"> {
  const image = textAt(deployment, "spec", "template", "spec", "containers", 0, "image");
  const [, version] = /:(v?\d+\.\d+[^@]*)/.exec(image) ?? [];
  return {
    manager: {
      ready: numberAt(deployment, "status", "readyReplicas") ?? 0,
      wanted: numberAt(deployment, "spec", "replicas") ?? 1,
    },
    version,
  };
}

function releaseOf(version: string | undefined): [number, number] | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}
