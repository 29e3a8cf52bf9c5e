/** The frame around every view: where one is, how to go elsewhere, and whether what is shown is current. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useFleet, startFleet } from "./fleet-store.ts";
import { chooseLanguage, formatNumber, language, LANGUAGES, t } from "./i18n.ts";
import type { Language } from "./i18n.ts";
import { Palette } from "./palette.tsx";
import { Loading } from "./parts/states.tsx";
import { Toasts } from "./parts/toast.tsx";
import { href, useRoute } from "./router.ts";
import type { Route } from "./router.ts";
import { openSession, signOut, whenSessionEnds } from "./session.ts";
import type { SessionInfo, SignIn } from "./session.ts";
import { SignInPage } from "./sign-in.tsx";
import { connect, disconnect } from "./stream.ts";
import { chooseTheme, currentTheme } from "./theme.ts";
import type { Theme } from "./theme.ts";
import { FleetView } from "./views/fleet.tsx";
import { viewChunks } from "./views/chunks.ts";
import type { ChunkName } from "./views/chunks.ts";
import type { ViewProps } from "./view.ts";

export function App() {
  const [state, setState] = useState<SignIn | "starting">("starting");
  const [, relabel] = useState(0);
  useEffect(() => {
    whenSessionEnds((message) => {
      disconnect();
      setState({ ask: "code", message });
    });
    void openSession().then(setState);
  }, []);
  useEffect(() => {
    if (state === "starting" || !("session" in state)) return;
    connect();
    startFleet();
  }, [state]);
  if (state === "starting") return <Loading />;
  if (!("session" in state)) return <SignInPage ask={state.ask} message={state.message} signedIn={setState} />;
  return (
    <Shell
      session={state.session}
      onLanguage={(next) => void chooseLanguage(next).then(() => relabel((count) => count + 1))}
    />
  );
}

const SECTIONS = [
  { path: "fleet", title: () => t("Fleet"), icon: "M2 12h12l-2 2.500H4zM8 1.500v9H3.500zM9.500 4.500v6H13z" },
  { path: "workloads", title: () => t("Workloads"), icon: "M2 3h12v2.500H2zM2 6.800h12v2.500H2zM2 10.600h12v2.500H2z" },
  {
    path: "matrix",
    title: () => t("Matrix"),
    icon:
      "M2 2h3.300v3.300H2zM6.400 2h3.300v3.300H6.400zM10.800 2H14v3.300h-3.200zM2 6.400h3.300v3.300H2zM6.400 " +
      "6.400h3.300v3.300H6.400zM10.800 6.400H14v3.300h-3.200zM2 10.800h3.300V14H2zM6.400 " +
      "10.800h3.300V14H6.400zM10.800 10.800H14V14h-3.200z",
  },
  {
    path: "problems",
    title: () => t("Problems"),
    icon: "M8 1.500 15 14H1zM7.200 6v4h1.600V6zM7.200 11v1.600h1.600V11z",
  },
  {
    path: "apply",
    title: () => t("Plan and apply"),
    icon: "M3 2h7l3 3v9H3zM5 7.500v1.200h6V7.500zM5 10.200v1.200h6v-1.200z",
  },
  {
    path: "ocm",
    title: () => t("Placements"),
    icon: "M8 1.500a5 5 0 0 1 5 5c0 3.300-5 8-5 8s-5-4.700-5-8a5 5 0 0 1 5-5zM8 4.500a2 2 0 1 0 0 4a2 2 0 0 0 0-4z",
  },
  {
    path: "history",
    title: () => t("History"),
    icon: "M8 1.500a6.500 6.500 0 1 1-6.500 6.500h1.600A4.900 4.900 0 1 0 8 3.100zM7.300 4.500h1.400v3.300l2.300 1.400-.7 1.200-3-1.800z",
  },
] as const;

function Shell({ session, onLanguage }: { session: SessionInfo; onLanguage(next: Language): void }) {
  const route = useRoute();
  const fleet = useFleet();
  const [searching, setSearching] = useState(false);
  const [section = "fleet"] = route.path;
  const problems = fleet.findings.filter(({ severity }) => severity === "problem").length;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setSearching(true);
      } else if (event.key === "/" && !isTyping(event.target)) {
        event.preventDefault();
        setSearching(true);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const title = titleOf(route);
  useEffect(() => void (document.title = `${title} · Flotilla`), [title]);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}
      >
        {t("Skip to the content")}
      </a>
      <header class="top">
        <a class="brand" href={href(["fleet"])} aria-label="Flotilla">
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <path d="M15 4v16H5z" fill="currentColor" />
            <path d="M17.500 8v12H26z" fill="currentColor" opacity="0.600" />
            <path d="M4 22h24l-3.500 6H7.500z" fill="currentColor" />
          </svg>
          <span>flotilla</span>
        </a>
        <button type="button" class="search" onClick={() => setSearching(true)}>
          <span>{t("Search or run a command")}</span>
          <kbd>{navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <a class={`problems-link ${problems > 0 ? "bad" : ""}`} href={href(["problems"])}>
          {problems > 0
            ? t("{count} problems", { count: problems })
            : fleet.checked
              ? t("no problems")
              : t("checking…")}
        </a>
        <Link />
        <UserMenu session={session} onLanguage={onLanguage} />
      </header>
      <nav class="rail" aria-label={t("Views")}>
        {SECTIONS.map(({ path, title: name, icon }) => (
          <a key={path} href={href([path])} aria-current={isIn(section, path) ? "page" : undefined} title={name()}>
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <path d={icon} fill="currentColor" fill-rule="evenodd" />
            </svg>
            <span>{name()}</span>
            {path === "problems" && problems > 0 && <b aria-hidden="true">{formatNumber(problems)}</b>}
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <View route={route} section={section} />
      </main>
      <Palette open={searching} onClose={() => setSearching(false)} />
      <Toasts />
    </div>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const isIn = (section: string, path: string): boolean =>
  section === path || (path === "workloads" && section === "w") || (path === "fleet" && section === "member");

function titleOf({ path }: Route): string {
  const [section = "fleet", ...rest] = path;
  if (section === "w") return rest[3] ?? "";
  if (section === "member") return rest[0] ?? "";
  return SECTIONS.find((each) => each.path === section)?.title() ?? t("Fleet");
}

const CHUNK_OF: Readonly<Record<string, ChunkName>> = {
  workloads: "workloads",
  matrix: "matrix",
  problems: "problems",
  apply: "apply",
  ocm: "ocm",
  history: "history",
  w: "workload",
  member: "member",
};

function View({ route, section }: { route: Route; section: string }) {
  const name = CHUNK_OF[section];
  const [loaded, setLoaded] = useState<{ name: ChunkName; component: ComponentType<ViewProps> } | undefined>(undefined);
  const [error, setError] = useState("");
  useEffect(() => {
    if (name === undefined || loaded?.name === name) return;
    let isCurrent = true;
    viewChunks[name]().then(
      (component) => isCurrent && (setLoaded({ name, component }), setError("")),
      (reason: Error) => isCurrent && setError(reason.message),
    );
    return () => void (isCurrent = false);
  }, [name]);
  if (name === undefined) return <FleetView route={route} />;
  if (error !== "") return <div class="blank failed">{error}</div>;
  if (loaded?.name !== name) return <Loading />;
  const { component: Component } = loaded;
  return <Component route={route} />;
}

/** Says so when what is shown is old. */
function Link() {
  const { link } = useFleet();
  const words = { live: t("live"), connecting: t("connecting"), lost: t("connection lost") } as const;
  return (
    <span class={`link ${link}`} role="status">
      {words[link]}
    </span>
  );
}

function UserMenu({ session, onLanguage }: { session: SessionInfo; onLanguage(next: Language): void }) {
  const [theme, setTheme] = useState<Theme>(currentTheme);
  const themes: Readonly<Record<Theme, string>> = { system: t("as the system"), light: t("light"), dark: t("dark") };
  return (
    <details class="user">
      <summary aria-label={t("Signed in as {user}", { user: session.user })}>{shortUser(session.user)}</summary>
      <div class="menu">
        <p class="muted">{session.user}</p>
        <p class="muted mono">{session.server}</p>
        <label>
          {t("Appearance")}
          <select
            value={theme}
            onChange={({ currentTarget: { value } }) => {
              chooseTheme(value as Theme);
              setTheme(value as Theme);
            }}
          >
            {Object.entries(themes).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t("Language")}
          <select value={language()} onChange={({ currentTarget: { value } }) => onLanguage(value as Language)}>
            {Object.entries(LANGUAGES).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void signOut()}>
          {t("Sign out")}
        </button>
      </div>
    </details>
  );
}

const shortUser = (user: string): string => user.split(":").at(-1) ?? user;
