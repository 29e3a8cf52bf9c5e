/**
 * A standby: follows another hub until it is promoted. Then that hub is ended, the rest of its changes is taken over, and the
 * copy becomes the store of this hub, with revisions far above those of the other: no revision that a client has ever seen
 * gets another meaning.
 *
 * Reads: the other hub, `promote.json`. Writes: `standby.db`, `standby.json`, and at the end the store.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { HUB } from "@flotilla/apimachinery";
import { openReplica, openSqliteEngine, restoreSnapshot, writeTerm } from "@flotilla/apiserver";
import type { Replica } from "@flotilla/apiserver";
import { FlotillaError, formatTime, messageOf, silentLog, sleep } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { StandbyState, StoreOptions } from "@flotilla/cli";
import { connectionOf, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { STORE } from "../data/data-directory.ts";
import { openEtcdStore } from "../data/etcd-store.ts";
import { copySnapshotToEtcd } from "../data/snapshots.ts";
import { createReceiver, follow, RefusedError, stepDown } from "./primary.ts";
import type { Progress } from "./primary.ts";
import { createStateWriter, readStandbyState, REPLICA, takePromotionRequest } from "./standby-files.ts";
import type { PromotionRequest } from "./standby-files.ts";

const RETRY_MS = 500;
const LOOK_MS = 100;
/** How often the state is written while nothing but the revision changes. */
const STATE_EVERY_MS = 1_000;
/** How long a primary may take to end before it counts as gone. */
const STEP_DOWN_LIMIT_MS = 10_000;
const FENCE_EVERY_MS = 2_000;

interface StandbyOptions {
  data: string;
  /** Of an administrator of the primary. */
  primary: string;
  /** Where the objects are kept after the promotion; unset is the data directory. */
  store: StoreOptions | undefined;
  clock: Clock;
  log: Log;
  progress(text: string): void;
}

export interface Promoted {
  /** Ends the primary as soon as it answers, if the promotion could not. The returned function stops trying. */
  fencePrimary(): () => void;
  /** Records that this hub serves. */
  serving(): Promise<void>;
}

/** Resolves when this process is the hub: at once if it was promoted before. */
export async function followUntilPromoted(options: StandbyOptions, signal: AbortSignal): Promise<Promoted> {
  const { data, log } = options;
  const before = await readStandbyState(data);
  const write = createStateWriter(data);
  const transport = await connect(options);
  if (before?.state === "promoted") return promoted(options, { transport, write }, before);
  if (existsSync(join(data, STORE)))
    throw new FlotillaError(
      "Standby",
      `${data} already has the store of a hub: a standby needs a data directory of its own`,
    );
  const replica = openReplica(join(data, REPLICA));
  const standby = new Standby(
    options,
    { transport, replica, write },
    {
      state: "following",
      server: await serverOf(options),
      revision: replica.revision,
      objects: replica.objects,
      isComplete: replica.revision > 0,
      term: before?.term ?? 0,
      seenAt: before?.seenAt ?? "",
    },
  );
  try {
    const isFenced = await standby.untilTakenOver(signal);
    replica.close();
    const term = standby.state.term + 1;
    await becomeStore(options, term);
    const now: StandbyState = { ...standby.state, state: "promoted", term, isFenced };
    await write(now);
    await rm(join(data, REPLICA), { force: true });
    log.warn("promoted", { term, revision: now.revision, isFenced });
    return promoted(options, { transport, write }, now);
  } catch (error) {
    await transport.close();
    throw error;
  }
}

interface StandbyParts {
  transport: Transport;
  replica: Replica;
  write(state: StandbyState): Promise<void>;
}

class Standby {
  state: StandbyState;
  readonly #options: StandbyOptions;
  readonly #parts: StandbyParts;
  #writtenMs = 0;

  constructor(options: StandbyOptions, parts: StandbyParts, state: StandbyState) {
    this.#options = options;
    this.#parts = parts;
    this.state = state;
  }

  /** Follows until a promotion succeeds. Returns whether the primary is ended for certain. */
  async untilTakenOver(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const request = await this.#followUntilRequested(signal);
      await this.#note({ state: "promoting", answer: undefined }, true);
      try {
        return await this.#takeOver(request);
      } catch (error) {
        const problem = messageOf(error);
        this.#options.log.error("not promoted", { error });
        await this.#note({ state: "following", answer: { id: request.id, problem } }, true);
      }
    }
  }

  /** Follows and reconnects. */
  async #followUntilRequested(signal: AbortSignal): Promise<PromotionRequest> {
    const { data, clock } = this.#options;
    const requested = new AbortController();
    await this.#note({}, true);
    const following = this.#follow(AbortSignal.any([signal, requested.signal]));
    try {
      for (;;) {
        const request = await takePromotionRequest(data);
        if (request && this.state.isComplete) return request;
        if (request)
          await this.#note(
            { answer: { id: request.id, problem: "the copy of the primary is not complete; try again later" } },
            true,
          );
        await sleep(clock, LOOK_MS, signal);
      }
    } finally {
      requested.abort();
      await following;
    }
  }

  async #follow(stop: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const { transport, replica } = this.#parts;
    while (!stop.aborted) {
      try {
        await follow({ transport, replica, clock, onProgress: (now) => void this.#follows(now) }, stop);
      } catch (error) {
        if (stop.aborted) return;
        log.warn("the primary cannot be followed; trying again", { error });
        await this.#note({ problem: messageOf(error) }, true);
      }
      await Promise.allSettled([sleep(clock, RETRY_MS, stop)]);
    }
  }

  #follows({ term, isComplete }: Progress): Promise<void> {
    const isNew = isComplete && !this.state.isComplete;
    const seenAt = formatTime(this.#options.clock.now());
    return this.#note({ term, isComplete, seenAt, problem: undefined }, isNew);
  }

  /** The revision alone is written once in a while. */
  async #note(change: Partial<StandbyState>, isUrgent: boolean): Promise<void> {
    const { clock, progress } = this.#options;
    const { replica, write } = this.#parts;
    this.state = { ...this.state, ...change, revision: replica.revision, objects: replica.objects };
    if (!isUrgent && clock.now() - this.#writtenMs < STATE_EVERY_MS) return;
    this.#writtenMs = clock.now();
    const { server, objects, revision, problem } = this.state;
    progress(
      `following ${server}: ${objects} objects at revision ${revision}${problem === undefined ? "" : `; ${problem}`}`,
    );
    await write(this.state);
  }

  /** Ends the primary and takes what the copy lacks. Throws if the primary may still write. */
  async #takeOver({ force }: PromotionRequest): Promise<boolean> {
    const { clock, log, progress } = this.#options;
    const { transport, replica } = this.#parts;
    progress("ending the primary");
    const limit = new AbortController();
    const timer = clock.after(STEP_DOWN_LIMIT_MS, () =>
      limit.abort(new FlotillaError("Standby", `the primary did not answer within ${STEP_DOWN_LIMIT_MS / 1000} s`)),
    );
    try {
      const identity = { term: this.state.term + 1, name: hostname(), after: replica.revision };
      createReceiver(replica).take(await stepDown(transport, identity, limit.signal));
      return true;
    } catch (error) {
      // A primary that answers and refuses has a reason, which --force does not change.
      if (error instanceof RefusedError) throw error;
      if (!force)
        throw new FlotillaError(
          "Standby",
          `${messageOf(error)}. If the primary is stopped for certain, or cut off from its members, repeat the command with --force`,
        );
      log.warn("the primary does not answer, and is replaced all the same", { error });
      return false;
    } finally {
      timer.cancel();
      this.state = { ...this.state, revision: replica.revision, objects: replica.objects };
    }
  }
}

async function becomeStore({ data, store, clock, progress }: StandbyOptions, term: number): Promise<void> {
  progress("taking over the objects");
  const replica = join(data, REPLICA);
  if (store) {
    await copySnapshotToEtcd(replica, store, data, () => {});
    const engine = await openEtcdStore(store, clock, silentLog);
    await writeTerm(engine, term);
    await engine.close();
    return;
  }
  restoreSnapshot(replica, join(data, STORE), clock.now());
  const engine = await openSqliteEngine({ path: join(data, STORE) });
  await writeTerm(engine, term);
  await engine.close();
}

function promoted(
  { clock, log }: StandbyOptions,
  { transport, write }: Pick<StandbyParts, "transport" | "write">,
  state: StandbyState,
): Promoted {
  let now = state;
  return {
    fencePrimary() {
      const stopping = new AbortController();
      const trying = (async () => {
        while (!now.isFenced && !stopping.signal.aborted) {
          try {
            await stepDown(transport, { term: now.term, name: hostname() }, stopping.signal);
            now = { ...now, isFenced: true };
            await write(now);
            log.warn("the former primary answered and was ended", { server: now.server });
          } catch (error) {
            // The address may now lead to this hub, which has this term.
            log.debug("the former primary was not ended yet", { error });
          }
          if (!now.isFenced) await Promise.allSettled([sleep(clock, FENCE_EVERY_MS, stopping.signal)]);
        }
        await transport.close();
      })();
      return () => {
        stopping.abort();
        void trying;
      };
    },
    async serving() {
      now = { ...now, isServing: true };
      await write(now);
    },
  };
}

async function connect({ primary, clock }: StandbyOptions): Promise<Transport> {
  // Its other addresses are this standby.
  const { others: _others, ...connection } = await connectionOf(await loadKubeconfig(primary));
  return createHttp2Transport({ ...connection, cluster: { root: HUB }, userAgent: "flotilla-standby", clock });
}

const serverOf = async ({ primary }: StandbyOptions): Promise<string> =>
  (await connectionOf(await loadKubeconfig(primary))).server.href.replace(/\/+$/, "");
