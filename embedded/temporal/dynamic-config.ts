/** The server's defaults throttle and partition for many hosts; these settings give low latency on one machine. */
export const DYNAMIC_CONFIG = {
  'system.enableActivityEagerExecution': true,
  'matching.enableFairness': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'history.transferProcessorMaxPollRPS': 1000,
  'history.timerProcessorMaxPollRPS': 1000,
  'frontend.rps': 20_000,
  'frontend.namespaceRPS': 20_000,
  'frontend.namespaceCount': 10_000,
  'matching.rps': 20_000,
  'history.rps': 20_000,
};

/** What the development server gets besides: it has one SQLite file, and one machine's memory. */
export const SQLITE_CONFIG = {
  // SQLite has one connection, and the record of a run for its visibility (a row in twelve indexes) holds it longer than a step
  // of a run. So the records are written one after the other, twice a second, and a run that has ended by then has one
  // instead of two.
  'history.visibilityProcessorMaxPollRPS': 2,
  'history.visibilityTaskBatchSize': 1_000,
  'history.visibilityProcessorSchedulerWorkerCount': 1,
  // It would read the search attributes from the database for each run that starts; it has Weir's from the first.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
  // The state of workflows in memory, of some 25 KB each: by itself it keeps 128,000 for an hour, ended ones too.
  'history.hostLevelCacheMaxSize': 1_000,
  'history.cacheTTL': '10s',
  'history.cacheBackgroundEvict': { Enabled: true, LoopInterval: '3s', MaxEntryPerCall: 1_024 },
  // Each of these waits for tasks with a stack of its own. By itself it has 512 for transfers and for timers each, and 640 that
  // copy histories between clusters; one connection to SQLite keeps few of them busy.
  'history.transferProcessorSchedulerWorkerCount': 64,
  'history.timerProcessorSchedulerWorkerCount': 64,
  'history.memoryTimerProcessorSchedulerWorkerCount': 8,
  'history.ReplicationProcessorSchedulerWorkerCount': 1,
  'history.ReplicationLowPriorityProcessorSchedulerWorkerCount': 1,
  // Events that other clusters would ask for, in bytes.
  'history.xdcCacheMaxSizeBytes': 1,
};
