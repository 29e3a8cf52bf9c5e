/** What OpenKruise's daemon reports about the images that its node should pull: the name alone determines the outcome. */
import { formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { tagStatusOf, withReports } from "@flotilla/openkruise";
import type { NodeImage } from "@flotilla/openkruise";
import { imageIdOf, isBroken } from "../kubelet/images.ts";

type ReadonlyNodeImage = DeepReadonly<NodeImage>;
type Tag = NonNullable<NonNullable<ReadonlyNodeImage["spec"]>["images"]>[string]["tags"][number];
type Report = Parameters<typeof withReports>[1][number];

/** One attempt. Long enough that a person sees it. */
const PULL_MS = 3000;
const DEFAULT_BACKOFF_LIMIT = 3;

export interface PullsPlan {
  /** Unset if nothing changed. */
  status?: ReturnType<typeof withReports>;
  /** Pulls that ended. */
  ended: readonly { image: string; failure?: string }[];
  requeueAfterMs?: number;
}

export function planPulls(nodeImage: ReadonlyNodeImage, nowMs: number): PullsPlan {
  const waits: number[] = [];
  const reports = Object.entries(nodeImage.spec?.images ?? {}).flatMap(([name, { tags }]) =>
    tags.flatMap((tag) => reportOf(nodeImage, name, tag, nowMs, waits) ?? []),
  );
  const ended = reports.flatMap(({ name, report }) =>
    report.completionTime === undefined ? [] : [{ image: `${name}:${report.tag}`, failure: report.message }],
  );
  const isFirst = nodeImage.status?.firstSyncStatus === undefined;
  const isStale = hasSurplusReports(nodeImage);
  if (reports.length === 0 && !isFirst && !isStale) return { ended, requeueAfterMs: earliest(waits) };
  const status = withReports(nodeImage, reports);
  const firstSyncStatus = nodeImage.status?.firstSyncStatus ?? {
    syncAt: formatTime(nowMs),
    status: "Succeeded",
  };
  return { status: { ...status, firstSyncStatus }, ended, requeueAfterMs: earliest(waits) };
}

const earliest = (waits: readonly number[]): number | undefined => (waits.length > 0 ? Math.min(...waits) : undefined);

/** Reports of tags that are no longer listed are removed. */
function hasSurplusReports({ spec, status }: ReadonlyNodeImage): boolean {
  return Object.entries(status?.imageStatuses ?? {}).some(([name, { tags }]) =>
    tags.some(({ tag }) => !spec?.images?.[name]?.tags.some((one) => one.tag === tag)),
  );
}

function reportOf(
  nodeImage: ReadonlyNodeImage,
  name: string,
  { tag, version = 0, pullPolicy }: Tag,
  nowMs: number,
  waits: number[],
): Report | undefined {
  const known = tagStatusOf(nodeImage, name, tag);
  const image = tag.includes(":") ? `${name}@${tag}` : `${name}:${tag}`;
  const attempts = isBroken(image) ? (pullPolicy?.backoffLimit ?? DEFAULT_BACKOFF_LIMIT) + 1 : 1;
  if (!known || (known.version ?? 0) !== version) {
    waits.push(attempts * PULL_MS);
    return { name, report: { tag, phase: "Pulling", progress: 0, startTime: formatTime(nowMs), version } };
  }
  if (known.phase !== "Pulling") return undefined;
  const leftMs = Date.parse(known.startTime ?? formatTime(nowMs)) + attempts * PULL_MS - nowMs;
  if (leftMs > 0) {
    waits.push(leftMs);
    return undefined;
  }
  const completionTime = formatTime(nowMs);
  return {
    name,
    report: isBroken(image)
      ? {
          ...known,
          phase: "Failed",
          completionTime,
          message: `failed to pull image ${JSON.stringify(image)}: not found`,
        }
      : { ...known, phase: "Succeeded", progress: 100, completionTime, imageID: imageIdOf(image) },
  };
}
