/**
 * Renews the serving certificate of a process that runs for months: new connections get the new one, and existing ones
 * stay open. The CA itself is valid for ten years; when it is about to expire, a warning is logged. The next start of
 * a hub in a data directory creates a new one; several API servers replace theirs with `flotilla keys`.
 */
import { X509Certificate } from "node:crypto";
import type { Clock, Log } from "@flotilla/base";
import type { Certificates } from "@flotilla/apimachinery";

/** Certificates are renewed a month before they expire, so two checks a day are plenty. */
const CHECK_INTERVAL_MS = 12 * 60 * 60 * 1000;
const WARN_BEFORE_MS = 60 * 24 * 60 * 60 * 1000;

export interface KeepCertificatesOptions {
  current: Certificates;
  /** Reads the certificates on disk, and replaces those that are about to expire. */
  ensure(): Promise<Certificates>;
  use(certificates: Certificates): void;
  clock: Clock;
  log: Log;
}

/** Checks periodically until the returned function is called. */
export function keepCertificates(options: KeepCertificatesOptions): () => void {
  const { current, ensure, use, clock, log } = options;
  const authorityEndsMs = new X509Certificate(current.authority.certificate).validToDate.getTime();
  let serving = current.serving.certificate;
  let isStopped = false;
  let timer = clock.after(CHECK_INTERVAL_MS, look);

  function look(): void {
    void renew()
      .catch((error: unknown) =>
        log.error("certificate renewal failed; it is retried later and on the next start", { error }),
      )
      .finally(() => {
        if (!isStopped) timer = clock.after(CHECK_INTERVAL_MS, look);
      });
  }

  async function renew(): Promise<void> {
    if (authorityEndsMs - clock.now() < WARN_BEFORE_MS) {
      log.warn(
        "certificate authority expires soon; replace it with 'flotilla keys', and distribute the new kubeconfigs",
        {
          validTo: new Date(authorityEndsMs).toISOString(),
        },
      );
      return;
    }
    const kept = await ensure();
    if (isStopped || kept.serving.certificate === serving) return;
    serving = kept.serving.certificate;
    use(kept);
    log.info("serving certificate renewed", { validTo: new X509Certificate(serving).validTo });
  }

  return () => {
    isStopped = true;
    timer.cancel();
  };
}
