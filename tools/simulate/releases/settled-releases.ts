/** What holds of releases once all faults have ended and nothing changes any more. */
import type { Finding, SettledState } from "../check-settled.ts";
import { NAMESPACE, TARGETS } from "../manifests.ts";
import { RELEASED_KINDS } from "./draw-release.ts";
import { imageOfRelease, releasesOf } from "./newest-release.ts";

/** Every release has ended, or waits for a person and says for what. */
export function* releasesEnd({ hub }: SettledState): Iterable<Finding> {
  for (const kind of RELEASED_KINDS) {
    const [newest] = releasesOf(hub, kind);
    if (!newest) continue;
    const { spec, status } = newest;
    const says = status?.waitingFor ?? "";
    const named = `${newest.metadata.name} of ${kind.toLowerCase()}/${TARGETS[kind].name}`;
    const invariant = "a release ends, or waits for a person and says so";
    switch (status?.phase) {
      case "Succeeded":
      case "RolledBack":
      case "Failed":
        break;
      case "Paused":
        if (
          says !== (status.failure ? `a decision after: ${status.failure.message}` : "resume") ||
          !(spec.paused || status.failure)
        )
          yield { invariant, details: `${named} is Paused and waits for '${says}'` };
        break;
      case "RollingBack":
        if (!spec.paused) yield { invariant, details: `${named} is RollingBack and waits for '${says}'` };
        break;
      case "Progressing": {
        const waiting = status.gates?.filter(({ type, state }) => type === "approval" && state !== "Open") ?? [];
        if (!waiting.some(({ wave }) => says.includes(`approval of ${wave}`)))
          yield { invariant, details: `${named} is Progressing and waits for '${says}'` };
        break;
      }
      default:
        yield { invariant, details: `${named} is ${status?.phase ?? "new"}, and it is the newest` };
    }
  }
}

/** After a rollback every member has the revision before. */
export function* membersAreBack(state: SettledState): Iterable<Finding> {
  const { hub, members, names } = state;
  for (const kind of RELEASED_KINDS) {
    const [newest, ...older] = releasesOf(hub, kind);
    const { table, path, name } = TARGETS[kind];
    const template = hub.get(`${table}hub/${path}`);
    const isPaused = template?.spec.paused === true || template?.spec.updateStrategy?.rollingUpdate?.paused === true;
    if (!newest || isPaused || !["RolledBack", "Failed"].includes(newest.status?.phase ?? "")) continue;
    const before = older.find(({ metadata }) => metadata.name === newest.spec.previous);
    if (!before) continue;
    const wanted = imageOfRelease(before);
    for (const member of names) {
      if (!hub.get(`/cluster.karmada.io/clusters/hub/${member}`) || !members.get(`${table}${member}/${path}`)) continue;
      const others = members
        .list(`/core/pods/${member}/${NAMESPACE}/`)
        .filter(({ metadata, spec }) => metadata.labels?.["app"] === name && spec.containers[0].image !== wanted);
      if (others.length > 0)
        yield {
          invariant: "after a rollback members have the revision before",
          details:
            `${newest.metadata.name} is ${newest.status?.phase}, and ${member} has ` +
            `${others.map(({ metadata, spec }) => `${metadata.name} with ${spec.containers[0].image}`).join(", ")} ` +
            `instead of ${wanted}`,
        };
    }
  }
}

/** Whether members may have another template than the one on the hub, and more or fewer pods. */
export function isUnderRelease({ hub }: SettledState, kind: string): "no" | "ended" | "open" {
  if (kind !== "Deployment" && kind !== "CloneSet") return "no";
  const [newest] = releasesOf(hub, kind);
  const phase = newest?.status?.phase;
  if (!newest || phase === "Succeeded") return "no";
  return phase === "RolledBack" ? "ended" : "open";
}
