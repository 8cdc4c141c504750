BEGIN TRANSACTION;
CREATE TABLE claim (
	id INTEGER NOT NULL, 
	application VARCHAR(255) NOT NULL, 
	node_class VARCHAR(255) NOT NULL, 
	threads VARCHAR(64) NOT NULL, 
	cap_w FLOAT NOT NULL, 
	nodes INTEGER NOT NULL, 
	time_s FLOAT NOT NULL, 
	energy_j FLOAT NOT NULL, 
	runs INTEGER NOT NULL, 
	time_error FLOAT, 
	energy_error FLOAT, 
	predictions INTEGER NOT NULL, 
	CONSTRAINT pk_claim PRIMARY KEY (id), 
	CONSTRAINT uq_claim_application_node_class_threads_cap_w_nodes UNIQUE (application, node_class, threads, cap_w, nodes)
);
INSERT INTO "claim" VALUES(1,'CG.A','odroid-c1','4',0.0,1,9.1,37.3,5,NULL,NULL,0);
INSERT INTO "claim" VALUES(2,'CG.A','odroid-c2','4',0.0,1,8.0,39.45,5,NULL,NULL,0);
INSERT INTO "claim" VALUES(3,'CG.A','xeon','8',0.0,1,0.58,29.91,5,NULL,NULL,0);
INSERT INTO "claim" VALUES(4,'CG.A','xeon','8',15.0,1,0.63,17.11,5,NULL,NULL,0);
CREATE TABLE claim_run (
	id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	application VARCHAR(255) NOT NULL, 
	node_class VARCHAR(255) NOT NULL, 
	threads VARCHAR(64) NOT NULL, 
	cap_w FLOAT NOT NULL, 
	nodes INTEGER NOT NULL, 
	CONSTRAINT pk_claim_run PRIMARY KEY (id), 
	CONSTRAINT uq_claim_run_digest UNIQUE (digest)
);
CREATE TABLE ledger_job (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	job_id BIGINT NOT NULL, 
	restart INTEGER NOT NULL, 
	user VARCHAR(255) NOT NULL, 
	account VARCHAR(255) NOT NULL, 
	partition VARCHAR(255) NOT NULL, 
	application VARCHAR(255) NOT NULL, 
	node_class VARCHAR(255) NOT NULL, 
	state VARCHAR(255) NOT NULL, 
	quality VARCHAR(255) NOT NULL, 
	nodes INTEGER NOT NULL, 
	cores INTEGER NOT NULL, 
	node_list TEXT NOT NULL, 
	submit_s FLOAT NOT NULL, 
	start_s FLOAT NOT NULL, 
	end_s FLOAT NOT NULL, 
	limit_s FLOAT NOT NULL, 
	energy_j FLOAT NOT NULL, 
	frequency_hz FLOAT, 
	CONSTRAINT pk_ledger_job PRIMARY KEY (id), 
	CONSTRAINT uq_ledger_job_run_id_job_id_restart UNIQUE (run_id, job_id, restart), 
	CONSTRAINT fk_ledger_job_run_id_ledger_run FOREIGN KEY(run_id) REFERENCES ledger_run (id) ON DELETE CASCADE
);
INSERT INTO "ledger_job" VALUES(1,1,1,0,'1','1','unknown','1','node','COMPLETED','simulated',2,2,'',0.0,0.0,100.0,200.0,60000.0,NULL);
INSERT INTO "ledger_job" VALUES(2,1,2,0,'2','1','unknown','1','node','COMPLETED','simulated',4,4,'',10.0,100.0,150.0,100.0,60000.0,NULL);
CREATE TABLE ledger_power (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	job_id BIGINT NOT NULL, 
	restart INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	time_s FLOAT NOT NULL, 
	power_w FLOAT NOT NULL, 
	CONSTRAINT pk_ledger_power PRIMARY KEY (id), 
	CONSTRAINT fk_ledger_power_run_id_ledger_run FOREIGN KEY(run_id) REFERENCES ledger_run (id) ON DELETE CASCADE
);
INSERT INTO "ledger_power" VALUES(1,1,1,0,0,0.0,600.0);
INSERT INTO "ledger_power" VALUES(2,1,2,0,0,100.0,1200.0);
CREATE TABLE ledger_run (
	id INTEGER NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	digest VARCHAR(255) NOT NULL, 
	machine VARCHAR(255) NOT NULL, 
	epoch_s FLOAT NOT NULL, 
	energy_j FLOAT NOT NULL, 
	left_out TEXT NOT NULL, 
	assumed TEXT NOT NULL, 
	CONSTRAINT pk_ledger_run PRIMARY KEY (id), 
	CONSTRAINT uq_ledger_run_name UNIQUE (name), 
	CONSTRAINT uq_ledger_run_digest UNIQUE (digest)
);
INSERT INTO "ledger_run" VALUES(1,'run','63c4282f33e2cfe64e1ff15943ead9c4d2ad2cf67fe487f86cf66f1345167980','system',0.0,138000.0,'{}','[]');
CREATE TABLE ledger_step (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	job_id BIGINT NOT NULL, 
	restart INTEGER NOT NULL, 
	step_id INTEGER NOT NULL, 
	start_s FLOAT NOT NULL, 
	end_s FLOAT NOT NULL, 
	energy_j FLOAT NOT NULL, 
	CONSTRAINT pk_ledger_step PRIMARY KEY (id), 
	CONSTRAINT uq_ledger_step_run_id_job_id_restart_step_id UNIQUE (run_id, job_id, restart, step_id), 
	CONSTRAINT fk_ledger_step_run_id_ledger_run FOREIGN KEY(run_id) REFERENCES ledger_run (id) ON DELETE CASCADE
);
INSERT INTO "ledger_step" VALUES(1,1,1,0,0,0.0,100.0,60000.0);
INSERT INTO "ledger_step" VALUES(2,1,2,0,0,100.0,150.0,60000.0);
CREATE TABLE measured_fact (
	id INTEGER NOT NULL, 
	life_id INTEGER NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	node VARCHAR(255) NOT NULL, 
	source VARCHAR(255) NOT NULL, 
	start_s FLOAT NOT NULL, 
	end_s FLOAT NOT NULL, 
	energy_j FLOAT NOT NULL, 
	covered_s FLOAT NOT NULL, 
	filled_j FLOAT NOT NULL, 
	idle_j FLOAT NOT NULL, 
	counts BOOLEAN NOT NULL, 
	CONSTRAINT pk_measured_fact PRIMARY KEY (id), 
	CONSTRAINT uq_measured_fact_life_id_step_node_source_start_s UNIQUE (life_id, step, node, source, start_s), 
	CONSTRAINT fk_measured_fact_life_id_measured_life FOREIGN KEY(life_id) REFERENCES measured_life (id) ON DELETE CASCADE
);
INSERT INTO "measured_fact" VALUES(1,1,'','','slurm',1791194400.0,1791198000.0,5760000.0,7200.0,0.0,0.0,0);
INSERT INTO "measured_fact" VALUES(2,2,'','','slurm steps',1791194400.0,1791196200.0,540000.0,1800.0,0.0,0.0,1);
INSERT INTO "measured_fact" VALUES(3,2,'batch','','slurm steps',1791194400.0,1791196200.0,540000.0,1800.0,0.0,0.0,0);
INSERT INTO "measured_fact" VALUES(4,3,'','','slurm steps',1791197400.0,1791201000.0,1080000.0,3600.0,0.0,0.0,1);
INSERT INTO "measured_fact" VALUES(5,3,'batch','','slurm steps',1791197400.0,1791201000.0,1080000.0,3600.0,0.0,0.0,0);
INSERT INTO "measured_fact" VALUES(6,1,'','n1','series',1791194400.0,1791198000.0,2880000.0,3600.0,0.0,0.0,1);
INSERT INTO "measured_fact" VALUES(7,4,'','n1','series',1791201600.0,1791205200.0,2880000.0,3600.0,0.0,0.0,1);
CREATE TABLE measured_life (
	id INTEGER NOT NULL, 
	cluster VARCHAR(255) NOT NULL, 
	label VARCHAR(255) NOT NULL, 
	start_s BIGINT NOT NULL, 
	job_id BIGINT, 
	user VARCHAR(255) NOT NULL, 
	account VARCHAR(255) NOT NULL, 
	partition VARCHAR(255) NOT NULL, 
	application VARCHAR(255) NOT NULL, 
	node_class VARCHAR(255) NOT NULL, 
	state VARCHAR(255) NOT NULL, 
	nodes INTEGER NOT NULL, 
	cores INTEGER NOT NULL, 
	node_list TEXT NOT NULL, 
	submit_s FLOAT, 
	end_s FLOAT, 
	limit_s FLOAT, 
	cpu_s FLOAT, 
	suspended_s FLOAT, 
	told_j FLOAT, 
	frequency_hz FLOAT, 
	seen_s FLOAT, 
	alloc_tres TEXT NOT NULL, 
	asked_frequency VARCHAR(255) NOT NULL, 
	energy_j FLOAT, 
	idle_j FLOAT, 
	covered_s FLOAT, 
	coverage FLOAT, 
	source VARCHAR(255) NOT NULL, 
	quality VARCHAR(255) NOT NULL, 
	CONSTRAINT pk_measured_life PRIMARY KEY (id), 
	CONSTRAINT uq_measured_life_cluster_label_start_s UNIQUE (cluster, label, start_s)
);
INSERT INTO "measured_life" VALUES(1,'c','1',1791194400,1,'ann','phys','p','','','COMPLETED',2,16,'n[1-2]',NULL,1791198000.0,NULL,NULL,0.0,5760000.0,NULL,NULL,'cpu=16,energy=5760000','',2880000.0,0.0,3600.0,0.5,'series','measured at the nodes');
INSERT INTO "measured_life" VALUES(2,'c','2',1791194400,2,'bob','bio','p','','','REQUEUED',1,8,'n3',NULL,1791196200.0,NULL,NULL,0.0,NULL,NULL,NULL,'','',540000.0,0.0,1800.0,1.0,'slurm steps','told by Slurm for steps');
INSERT INTO "measured_life" VALUES(3,'c','2',1791197400,2,'bob','bio','p','','','COMPLETED',1,8,'n3',NULL,1791201000.0,NULL,NULL,0.0,NULL,NULL,NULL,'','',1080000.0,0.0,3600.0,1.0,'slurm steps','told by Slurm for steps');
INSERT INTO "measured_life" VALUES(4,'c','3',1791201600,3,'ann','phys','p','','','COMPLETED',1,8,'n1',NULL,1791205200.0,NULL,NULL,0.0,NULL,NULL,NULL,'','',2880000.0,0.0,3600.0,1.0,'series','measured at the nodes');
CREATE TABLE measured_rest (
	id INTEGER NOT NULL, 
	cluster VARCHAR(255) NOT NULL, 
	entity VARCHAR(255) NOT NULL, 
	start_s FLOAT NOT NULL, 
	end_s FLOAT NOT NULL, 
	metered_j FLOAT NOT NULL, 
	covered_s FLOAT NOT NULL, 
	filled_j FLOAT NOT NULL, 
	idle_j FLOAT NOT NULL, 
	unattributed_j FLOAT NOT NULL, 
	CONSTRAINT pk_measured_rest PRIMARY KEY (id), 
	CONSTRAINT uq_measured_rest_cluster_entity_start_s UNIQUE (cluster, entity, start_s)
);
INSERT INTO "measured_rest" VALUES(1,'c','n1',1791194400.0,1791198000.0,2880000.0,3600.0,0.0,0.0,0.0);
INSERT INTO "measured_rest" VALUES(2,'c','n1',1791198000.0,1791201600.0,2880000.0,3600.0,0.0,2880000.0,0.0);
INSERT INTO "measured_rest" VALUES(3,'c','n1',1791201600.0,1791205200.0,2880000.0,3600.0,0.0,0.0,0.0);
INSERT INTO "measured_rest" VALUES(4,'c','n1',1791205200.0,1791208800.0,2880000.0,3600.0,0.0,2880000.0,0.0);
CREATE TABLE measured_series (
	id INTEGER NOT NULL, 
	cluster VARCHAR(255) NOT NULL, 
	entity VARCHAR(255) NOT NULL, 
	meter VARCHAR(255) NOT NULL, 
	kind VARCHAR(255) NOT NULL, 
	day INTEGER NOT NULL, 
	interval_s FLOAT, 
	samples BLOB NOT NULL, 
	CONSTRAINT pk_measured_series PRIMARY KEY (id), 
	CONSTRAINT uq_measured_series_cluster_entity_meter_kind_day UNIQUE (cluster, entity, meter, kind, day)
);
INSERT INTO "measured_series" VALUES(1,'c','n1','','watts',20731,NULL,X'0100000200000000F0000000E00100000088EFF1145D0600008793030000000028B52FFD60E0006D0000204000060002006B40E13505B0');
CREATE TABLE measured_step (
	id INTEGER NOT NULL, 
	cluster VARCHAR(255) NOT NULL, 
	label VARCHAR(255) NOT NULL, 
	step VARCHAR(255) NOT NULL, 
	start_s BIGINT NOT NULL, 
	end_s FLOAT, 
	energy_j FLOAT, 
	frequency_hz FLOAT, 
	cpu_s FLOAT, 
	node_list TEXT NOT NULL, 
	CONSTRAINT pk_measured_step PRIMARY KEY (id), 
	CONSTRAINT uq_measured_step_cluster_label_step_start_s UNIQUE (cluster, label, step, start_s)
);
INSERT INTO "measured_step" VALUES(1,'c','2','batch',1791194400,1791196200.0,540000.0,NULL,NULL,'n3');
INSERT INTO "measured_step" VALUES(2,'c','2','batch',1791197400,1791201000.0,1080000.0,NULL,NULL,'n3');
CREATE TABLE schema_version (
	id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_schema_version PRIMARY KEY (id)
);
INSERT INTO "schema_version" VALUES(1,2);
CREATE INDEX ix_ledger_job_user ON ledger_job (run_id, user);
CREATE INDEX ix_ledger_power_job ON ledger_power (run_id, job_id);
CREATE INDEX ix_measured_life_time ON measured_life (cluster, start_s, end_s);
CREATE INDEX ix_measured_rest_time ON measured_rest (cluster, start_s, end_s);
CREATE INDEX ix_measured_fact_node ON measured_fact (node, start_s);
CREATE INDEX ix_measured_fact_time ON measured_fact (counts, start_s, end_s);
COMMIT;
