/** Requests and priority and fairness: a request runs when it has a seat, and leaves it with its response. */
import type { FlowControl, FlowRequest } from "../flowcontrol/flow-control.ts";
import type { Seat } from "../flowcontrol/ticket.ts";
import { after, isPromise } from "../admission/run-steps.ts";
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
  const entering = cluster && flow?.enter(cluster, request);
  if (!entering) return work();
  return after(entering, (seat) => seated(seat, seen, work));
}

/** Work that is done at once, such as most reads, leaves its seat at once. */
function seated<T>(seat: Seat, seen: ObservedRequest, work: () => T | Promise<T>): T | Promise<T> {
  seen.flow = seat;
  let working: T | Promise<T>;
  try {
    working = work();
  } catch (error) {
    seat.leave();
    throw error;
  }
  if (isPromise(working)) return working.finally(() => seat.leave());
  seat.leave();
  return working;
}
