// Names that assets/*.js uses for the checker: answers of hookd, as the page reads them. package wire documents each.

/** A decision, with the call that it is about and its end. */
interface Decision {
  event_id: string; seq: number; event_seq: number; time: string; event: string; kind: string; dialect?: string;
  agent_id?: string; agent_name?: string; session_id?: string; cwd?: string; tool?: string; subject?: string;
  call_id?: string; tried?: boolean; guarded?: string; ran?: Ran; outcome?: string; decision: string; reason?: string;
  decided_by?: string[]; rewrote?: string[]; new_subject?: string; contained?: string; opened?: string[]; told?: Told;
  answered?: Answered;
  shadow?: { hook: string; decision: string; reason?: string }[]; undo?: { files?: number }; untaken?: string[];
  duration_ms: number; runs?: string[]; held?: boolean; judge?: string;
}
interface Ran { event_id: string; time: string; failed?: boolean; took_ms?: number; instead?: string; box?: Box }
interface Box { level: string; exit: number; kept?: string[]; refused?: string[] }
interface Told { decision?: string; reason?: string; rewrote?: boolean; unsure?: string }
interface Answered {
  by: string; answer?: string; for?: string; id?: string; message?: string; held_ms?: number; from?: { user?: string; door?: string };
}

/** A run of a hook. */
interface Run {
  run_id: string; seq: number; event_id: string; hook: string; result: string; decision?: string; reason?: string;
  error?: string; cause?: string; awaited?: boolean; started: string; queue_ms: number; duration_ms: number;
}

/** A session as story.Session tells it. */
interface Told2 { hook: string; run_id?: string; calls?: number; ms: number; person?: boolean; said?: string }
interface SessionRow {
  id: string; kind: string; time: string; text?: string; tool?: string; sub?: boolean; call?: Decision; ran?: Ran;
  guards?: Told2[];
}
interface SessionStory {
  session_id: string; dialect?: string; cwd?: string; first: string; last: string; state: string; tool?: string;
  rows: SessionRow[]; waited: Told2[]; calls: number; cut?: boolean; words: boolean; wait_ms: number; person_ms?: number;
}

/** What a request has besides its path. */
interface Asking { query?: any; method?: string; body?: any; signal?: AbortSignal }

/** The draft of a hook, read and tested. */
interface Checked { answer?: any; err?: any; busy?: boolean; key?: string; now?: () => void }

/** What keys do over rows; see useRows. */
interface RowKeys {
  sel?: string; last?: number; enter: (i: number) => any; clear?: string[]; y?: (r: any) => string | undefined;
}
