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

/** Further settings of the development server, which has one SQLite file and one machine's memory. */
export const SQLITE_CONFIG = {
  // SQLite has one connection, and the record of a run for its visibility (a row in twelve indexes) holds it longer than a step
  // of a run. So the records are written one after the other, twice a second, and a run that has ended by then has one
  // instead of two.
  'history.visibilityProcessorMaxPollRPS': 2,
  'history.visibilityTaskBatchSize': 1_000,
  'history.visibilityProcessorSchedulerWorkerCount': 1,
  // By default, it reads the search attributes from the database for each run that starts; it has Weir's from the first.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
  // The states of workflows in memory, of some 25 KB each, and how long after it was read each stays there. The default is
  // 128,000 for an hour, of ended workflows too.
  'history.hostLevelCacheMaxSize': 500,
  'history.cacheTTL': '1m',
  'history.cacheBackgroundEvict': { Enabled: true, LoopInterval: '10s', MaxEntryPerCall: 1_024 },
  // Goroutines that carry out tasks, each with its own stack. The default is 512 for transfers, 512 for timers, and 640 that copy
  // histories between clusters; one connection to SQLite keeps few of them busy.
  'history.transferProcessorSchedulerWorkerCount': 64,
  'history.timerProcessorSchedulerWorkerCount': 64,
  'history.memoryTimerProcessorSchedulerWorkerCount': 8,
  'history.ReplicationProcessorSchedulerWorkerCount': 1,
  'history.ReplicationLowPriorityProcessorSchedulerWorkerCount': 1,
  // Events that other clusters would ask for, in bytes: the least that the server takes.
  'history.xdcCacheMaxSizeBytes': 65_536,
};
