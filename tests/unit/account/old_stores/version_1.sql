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
	node_list TEXT(16777215) NOT NULL, 
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
INSERT INTO "ledger_run" VALUES(1,'run','ef30ccfa6146f529347590413e3de3b180caa5f9f78e295f5cd423874160e5c3','system',0.0,138000.0,'{}','[]');
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
CREATE INDEX ix_ledger_job_user ON ledger_job (run_id, user);
CREATE INDEX ix_ledger_power_job ON ledger_power (run_id, job_id);
COMMIT;
