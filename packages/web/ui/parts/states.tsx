/** What a view shows when it has nothing to show: waiting, empty, or failed. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n.ts";
import { Command } from "./command.tsx";

/** Nothing for a moment: what arrives quickly does not flicker. */
export function Loading() {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="blank" role="status">
      {shown ? t("Loading…") : ""}
    </div>
  );
}

/** An empty page teaches the next command. */
export function Empty({
  title,
  children,
  commands = [],
}: {
  title: string;
  children?: ComponentChildren;
  commands?: readonly string[];
}) {
  return (
    <div class="blank">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {commands.map((line) => (
        <Command key={line} line={line} />
      ))}
    </div>
  );
}

export function Failed({ reason, retry }: { reason: string; retry?: () => void }) {
  return (
    <div class="blank failed" role="alert">
      <h2>{t("This could not be read")}</h2>
      <p>{reason}</p>
      {retry && (
        <button type="button" onClick={retry}>
          {t("Try again")}
        </button>
      )}
    </div>
  );
}
