/** Says which ordinals of an Advanced StatefulSet move to another member once their pods have ended. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { Share } from "@flotilla/kubernetes";
import { formatSpans, spansOf } from "./ordinal-spans.ts";
import { LEAVING_ORDINALS, planOrdinals } from "./plan-fleet-ordinals.ts";
import type { OrdinalSet } from "./plan-fleet-ordinals.ts";

export interface MovingOrdinals {
  from: string;
  to: string;
  /** `1-3,7` */
  ordinals: string;
}

/** `shares` have the copies that members get first, in which the ordinals leave. */
export function movingOrdinals(template: DeepReadonly<OrdinalSet>, shares: readonly Share[]): MovingOrdinals[] {
  if (!shares.some(({ copy }) => copy?.metadata.annotations?.[LEAVING_ORDINALS] !== undefined)) return [];
  const { awaited } = planOrdinals(template, shares);
  return Array.from(
    Map.groupBy(awaited, ({ from, to }) => JSON.stringify([from, to])),
    ([members, moving]) => {
      const [from, to] = JSON.parse(members) as [string, string];
      return { from, to, ordinals: formatSpans(spansOf(moving.map(({ ordinal }) => ordinal))).join(",") };
    },
  );
}
