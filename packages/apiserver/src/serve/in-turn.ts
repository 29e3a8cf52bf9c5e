/** Requests and priority and fairness: a request runs when it has a seat, and leaves it with its response. */
import type { FlowControl, FlowRequest } from "../flowcontrol/flow-control.ts";
import type { Seat } from "../flowcontrol/ticket.ts";
import type { OperationDependencies } from "./operations.ts";
import type { ObservedRequest } from "./server-metrics.ts";

/** Runs the work when priority and fairness allow it. Controllers of this server are exempt, on every transport. */
export function inTurn<T>(
  { deps, flow }: { deps: Pick<OperationDependencies, "isController" | "clusters">; flow?: FlowControl },
  clusterName: string,
  seen: ObservedRequest,
  request: FlowRequest,
  work: () => T | Promise<T>,
): T | Promise<T> {
  const cluster = flow && !deps.isController(request.user) ? deps.clusters.get(clusterName) : undefined;
  const seat = cluster && flow?.enter(cluster, request);
  if (!seat) return work();
  return seated(seat, seen, work);
}

async function seated<T>(
  entering: Seat | Promise<Seat>,
  seen: ObservedRequest,
  work: () => T | Promise<T>,
): Promise<T> {
  const seat = entering instanceof Promise ? await entering : entering;
  seen.flow = seat;
  let isSeated = true;
  const leave = (): void => {
    if (isSeated) seat.leave();
    isSeated = false;
  };
  seen.leaveSeat = leave;
  try {
    return await work();
  } finally {
    leave();
  }
}
